/** The list of pages: at the side, or behind a button where there is little room. */
import { useEffect, useState } from 'preact/hooks'
import { connection, server } from '../api/connection.ts'
import { Button, Select } from '../components/controls.tsx'
import { StoreWords } from '../components/shared-store.tsx'
import { keepText, keptText } from '../model/kept-text.ts'
import { addressOf } from '../model/route.ts'
import { groups } from './pages.ts'

export function Navigation({ current }: { readonly current: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <header class={`navigation ${isOpen ? 'is-open' : ''}`}>
      <div class="pt-3 px-3 mb-2 row spread">
        <a class="text strong no-underline row" href={addressOf('overview')}>
          <Mark />
          sixtables
        </a>
        <Button
          label="Menu"
          class="narrow-only"
          aria-expanded={isOpen}
          aria-controls="pages"
          onClick={() => setOpen(!isOpen)}
        />
      </div>
      <nav id="pages" aria-label="Pages">
        {Object.entries(groups).map(([group, pages]) => (
          <div key={group}>
            <p class="navigation-group tiny muted strong m-0" aria-hidden="true">
              {group}
            </p>
            <ul class="px-2" aria-label={group}>
              {pages.map(({ name, title, about, icon }) => (
                <li key={name}>
                  <a
                    class="place text no-underline row"
                    href={addressOf(name)}
                    title={about}
                    aria-current={name === current ? 'page' : undefined}
                    onClick={() => setOpen(false)}
                  >
                    <svg class="navigation-icon rigid" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                      <path d={icon} />
                    </svg>
                    {title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <Connection />
        <ThemeSwitch />
      </nav>
    </header>
  )
}

function Connection() {
  const isLost = connection.value === 'lost'
  const { address = location.host } = server.value ?? {}
  return (
    <p class={`row items-start m-0 mt-4 px-3 small breaks muted ${isLost ? 'is-lost' : ''}`}>
      <span class="navigation-dot rigid" aria-hidden="true" />
      <span>
        {isLost ? 'No answer from' : 'Connected to'} <bdi>{address}</bdi>
        {server.value !== undefined && (
          <>
            , data <StoreWords />
          </>
        )}
      </span>
    </p>
  )
}

/** Six tables, as two columns of three. */
function Mark() {
  return (
    <svg fill="var(--accent)" viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
      {[1, 6, 11].map((y) => [1, 9].map((x) => <rect key={`${x} ${y}`} x={x} y={y} width="6" height="4" rx="0.5" />))}
    </svg>
  )
}

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]
const storedName = 'sixtables-theme'

/** Light, dark, or as the system says; kept in this browser. */
function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(() => themes.find((name) => name === keptText(storedName)) ?? 'system')
  useEffect(() => {
    document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
    keepText(storedName, theme)
  }, [theme])
  return <Select class="py-2 px-3 row small muted" label="Theme" value={theme} options={themes} onChange={setTheme} />
}
