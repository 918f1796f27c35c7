/**
 * The format of a shared store: one row that every gateway reads before it does anything else.
 *
 *   M "" "" "format" → { "format": 1, "product": "sixtables" }
 *
 * A gateway of a version that keeps several clock rows for each database would write format 2, and one of this version would take stamps
 * from one clock row only. So a gateway works at a store only if the row has its own format. The first gateway writes the row; a store of
 * earlier versions, which wrote none, has format 1 (store-format.test.ts).
 */
import { failedPrecondition } from '@sixtables/engine'
import { metadataRowKey, type RowKey } from '@sixtables/engine/store'
import type { SharedStore } from './shared-store.ts'

/** To be raised when gateways of the version before would misread the rows (docs/decisions/0092-format-of-the-table.md). */
export const sharedFormat = 1

export const formatRow: RowKey = metadataRowKey({ projectId: '', databaseId: '', topic: 'format' })

/**
 * Reads the format of a store, and writes it if there is none.
 *
 * @param isReader - whether to write nothing
 * @throws FAILED_PRECONDITION for another format, or a row that cannot be read
 */
export async function checkFormat({ kv }: SharedStore, isReader: boolean): Promise<void> {
  const value = Buffer.from(JSON.stringify({ format: sharedFormat, product: 'sixtables' }))
  for (;;) {
    const stored = await kv.get(formatRow)
    if (stored !== undefined) return refuseOther(Buffer.from(stored).toString('utf8'))
    // If another gateway was first, its row is read.
    if (isReader || (await kv.mutateIf({ key: formatRow, value }, undefined))) return
  }
}

function refuseOther(stored: string): void {
  const format = formatIn(stored)
  if (format === sharedFormat) return
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
