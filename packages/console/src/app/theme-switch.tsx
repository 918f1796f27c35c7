/** Light, dark, or as the system says; kept in this browser. */
import { useEffect, useState } from 'preact/hooks'

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]
const storedName = 'sixtables-theme'

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(storedTheme)
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = theme
    store(theme)
  }, [theme])
  return (
    <label class="theme-switch">
      Theme
      <select value={theme} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
        {themes.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A browser may refuse to keep anything; then the system's theme holds at each visit. */
function storedTheme(): Theme {
  try {
    return themes.find((name) => name === localStorage.getItem(storedName)) ?? 'system'
  } catch {
    return 'system'
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(storedName, theme)
  } catch {
    // See storedTheme.
  }
}
