// VitePress's default theme, a little wider, because the guides have tables and command-line output. The first page shows the
// command to install below its title.

import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import './wide.css'

const install = () => h('p', { class: 'install' }, h('code', 'npm install flakeforge'))

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-info-after': install }),
}
