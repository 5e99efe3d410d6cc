// VitePress's own theme, a little wider: the guides have tables and outputs of a command line.

import DefaultTheme from 'vitepress/theme'
import './wide.css'

export default DefaultTheme
