/** Light, dark, or as the system says; kept in this browser. */

import { useEffect, useState } from 'preact/hooks'
import { Select } from '../components/controls.tsx'
import { keepText, keptText } from '../model/kept-text.ts'

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]
const storedName = 'sixtables-theme'

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(() => themes.find((name) => name === keptText(storedName)) ?? 'system')
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = theme
    keepText(storedName, theme)
  }, [theme])
  return <Select class="theme-switch" label="Theme" value={theme} options={themes} onChange={setTheme} />
}
