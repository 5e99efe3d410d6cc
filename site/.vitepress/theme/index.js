// VitePress's default theme, a little wider, because the guides have tables and command-line output.

import DefaultTheme from 'vitepress/theme'
import './wide.css'

export default DefaultTheme
