import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OperationError, UsageError } from '../../framework/errors.ts'
import { exportAtExit, importAtStart } from './start-transfer.ts'

let home: string
let engine: Engine

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'sixtables-start-transfer-'))
  engine = await openEngine()
})

afterEach(async () => {
  await engine.close()
  rmSync(home, { recursive: true, force: true })
})

function transferTo(exportOnExit: string) {
  const settings = { project: 'p', importData: undefined, exportOnExit }
  return { begin: () => importAtStart(engine, settings), end: () => exportAtExit(engine, settings) }
}

test('start-transfer/S1: the export is where it was asked for, in folders that were not there, with nothing beside it', async () => {
  const transfer = transferTo(join(home, 'a', 'b', 'out'))
  await transfer.begin()
  expect(readdirSync(join(home, 'a', 'b'))).toEqual([])
  await transfer.end()
  await transfer.end()
  expect(readdirSync(join(home, 'a', 'b'))).toEqual(['out'])
  expect(readdirSync(join(home, 'a', 'b', 'out')).length).toBeGreaterThan(0)
})

test('a place below a file, and one where no folder can be made, are refused at the start', async () => {
  writeFileSync(join(home, 'file'), '')
  for (const place of [join(home, 'file', 'out'), '/proc/sixtables/out']) {
    const refused = transferTo(place).begin()
    await expect(refused).rejects.toThrow(UsageError)
    await expect(refused).rejects.toThrow(`--export-on-exit: ${place} cannot be written`)
  }
})

test('a place that went away while the server ran is told in one line', async () => {
  const transfer = transferTo(join(home, 'a', 'out'))
  await transfer.begin()
  rmSync(join(home, 'a'), { recursive: true })
  writeFileSync(join(home, 'a'), '')
  const failed = transfer.end()
  await expect(failed).rejects.toThrow(OperationError)
  await expect(failed).rejects.toThrow('--export-on-exit: the export to')
})
