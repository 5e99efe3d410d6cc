// VitePress's default theme, a little wider, because the guides have tables and command-line output. The first page shows the
// command to install below its title.

import { useData } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import './wide.css'

const Install = {
  setup() {
    const { frontmatter } = useData()
    return () => h('p', { class: 'install' }, h('code', frontmatter.value.hero.install))
  },
}

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-info-after': () => h(Install) }),
}
