/** The choice of the properties that are columns. */
import { Button } from '../../components/controls.tsx'
import { Menu } from '../../components/menu.tsx'
import { safeText } from '../../components/parts.tsx'
import type { Column } from './results.ts'

/** Columns that are shown before the user chooses. */
const shownMax = 12

export function shownColumns(met: readonly Column[], chosen: readonly string[] | undefined): readonly string[] {
  return chosen ?? met.slice(0, shownMax).map(({ property }) => property)
}

export interface ColumnChooserProps {
  readonly met: readonly Column[]
  readonly shown: readonly string[]
  readonly onChange: (chosen: readonly string[] | undefined) => void
}

export function ColumnChooser({ met, shown, onChange }: ColumnChooserProps) {
  if (met.length === 0) return null
  const toggle = (property: string): void =>
    onChange(shown.includes(property) ? shown.filter((one) => one !== property) : [...shown, property])
  const words = shown.length === met.length ? '' : `${shown.length} of ${met.length}`
  return (
    <Menu
      label={
        <>
          Columns <span class="muted">{words}</span>
        </>
      }
    >
      {met.map(({ property }) => (
        <label key={property}>
          <input type="checkbox" checked={shown.includes(property)} onChange={() => toggle(property)} />{' '}
          {safeText(property)}
        </label>
      ))}
      <Button label={`The first ${Math.min(shownMax, met.length)}`} look="quiet" onClick={() => onChange(undefined)} />
    </Menu>
  )
}
