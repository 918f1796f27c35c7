/** All that is left of a run that broke a promise: a folder to look at, since the table goes with its emulator. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RowKey } from '@sixtables/engine'
import { openBigtable } from '../../src/index.ts'
import { type Family, families } from '../../src/row-store/row-store.ts'

interface Left {
  /** `host:port` of the Bigtable. */
  readonly address: string
  readonly table: string
  /** What the clients were told. */
  readonly told: object
  /** Stderr of all gateways. */
  readonly complaints: string
}

const rowsAtOnce = 500

/**
 * Writes `told.json`, `gateways.log`, and `rows.jsonl` with each cell of the table: its row key (a character a byte), family, timestamp, and
 * value in base64.
 *
 * @returns the folder
 */
export async function writeEvidence({ address, table, told, complaints }: Left): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-kills-'))
  writeFileSync(join(folder, 'told.json'), JSON.stringify(told, plain, 1))
  writeFileSync(join(folder, 'gateways.log'), complaints)
  writeFileSync(join(folder, 'rows.jsonl'), await cellsOf(address, table))
  return folder
}

async function cellsOf(emulator: string, table: string): Promise<string> {
  const rows = await openBigtable({ project: 'demo', instance: 'local', table, emulator })
  const lines: string[] = []
  const wanted = families.map((family) => ({ family }))
  for (let start: RowKey | undefined = ''; start !== undefined; ) {
    const found = await rows.scanRows({ range: { start, end: '\xff\xff' }, limit: rowsAtOnce, wanted })
    for (const { key, cells } of found) {
      for (const [family, some] of Object.entries(cells) as [Family, NonNullable<(typeof cells)[Family]>][]) {
        for (const { at, value } of some) {
          lines.push(JSON.stringify({ key, family, at: String(at), value: Buffer.from(value).toString('base64') }))
        }
      }
    }
    const last = found.at(-1)
    start = found.length < rowsAtOnce || last === undefined ? undefined : `${last.key}\0`
  }
  await rows.close()
  return lines.join('\n')
}

/** Replaces what JSON does not have. */
function plain(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Map ? [...value] : value
}
