/**
 * The format of a shared store: one row that every gateway reads before it does anything else.
 *
 *   M "" "" "format" → { "format": 2, "product": "sixtables" }
 *
 * A gateway works at a store only if the row has a format that it knows. The first gateway writes the row. In format 1 each database has one
 * clock row, and a gateway of that version would misread several. One clock row is the same in format 2, so a store of format 1, or of earlier
 * versions, which wrote no row, becomes one of format 2 when a gateway of this version starts (store-format.test.ts).
 */
import { failedPrecondition } from '@sixtables/engine'
import { type RowKey, topicRowKey, wholeStore } from '@sixtables/engine/store'
import type { SharedStore } from './shared-store.ts'

/** To be raised when gateways of the version before would misread the rows (docs/decisions/0092-format-of-the-table.md). */
export const sharedFormat = 2
const formats: readonly (number | undefined)[] = [1, sharedFormat]

export const formatRow: RowKey = topicRowKey(wholeStore, 'format')

/**
 * Reads the format of a store, and writes it if there is none, or an earlier one.
 *
 * @param isReader - whether to write nothing
 * @throws FAILED_PRECONDITION for another format, or a row that cannot be read
 */
export async function checkFormat({ kv }: SharedStore, isReader: boolean): Promise<void> {
  const value = Buffer.from(JSON.stringify({ format: sharedFormat, product: 'sixtables' }))
  for (;;) {
    const stored = await kv.get(formatRow)
    const format = stored && knownFormat(Buffer.from(stored).toString('utf8'))
    // If another gateway was first, its row is read.
    if (isReader || format === sharedFormat || (await kv.mutateIf({ key: formatRow, value }, stored))) return
  }
}

function knownFormat(stored: string): number | undefined {
  const format = formatIn(stored)
  if (formats.includes(format)) return format
  const found =
    format === undefined ? `the row of its format cannot be read (${stored.slice(0, 80)})` : `it has format ${format}`
  const remedy =
    'Start the version of sixtables that wrote it. To change versions, export each database with the old version, ' +
    'and import it into a new table with this one'
  throw failedPrecondition(
    `the table cannot be used: ${found}, and this version of sixtables works with format ${sharedFormat}. ${remedy}`,
  )
}

function formatIn(stored: string): number | undefined {
  try {
    const { format } = JSON.parse(stored) as { format?: unknown }
    return typeof format === 'number' ? format : undefined
  } catch {
    return undefined
  }
}
