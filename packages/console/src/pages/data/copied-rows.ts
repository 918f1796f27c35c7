/**
 * Rows as text for the clipboard.
 *
 * A CSV cell holds its text whatever it is: quoted where it must, and no spreadsheet takes it for a formula.
 */
import type { EntityResult } from '../../api/datastore.ts'
import { jsonText } from '../../model/json-text.ts'
import { formatKeyPath } from '../../model/key-text.ts'
import { propertyOf, valueWords } from '../../model/value-words.ts'

export function rowsAsJson(rows: readonly EntityResult[]): string {
  return `${jsonText(rows.map(({ entity }) => entity))}\n`
}

export function rowsAsCsv(rows: readonly EntityResult[], columns: readonly string[]): string {
  const lines = [['key', ...columns]]
  for (const { entity } of rows) {
    const cells = columns.map((column) => {
      const value = propertyOf(entity.properties, column)
      return value === undefined ? '' : (value.stringValue ?? valueWords(value).words)
    })
    lines.push([formatKeyPath(entity.key.path), ...cells])
  }
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
}

/** A negative number, or a geo point that begins with one; any other text with a minus at its begin may be a formula. */
const numbers = /^-[\d.]+(?:e[-+]?\d+)?(?:, -?[\d.]+(?:e[-+]?\d+)?)?$/

function csvCell(text: string): string {
  const isFormula = /^[=+@\t\r-]/.test(text) && !numbers.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
