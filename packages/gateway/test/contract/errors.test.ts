/**
 * What is refused and what is taken: one table of requests, over each protocol, in both modes. The table has what Google's
 * emulators answer (measured); with an emulator's address in the environment its own column is put to it instead:
 *
 *   SIXTABLES_ORACLE=firestore@127.0.0.1:9700 npx vitest run packages/gateway/test/contract/errors.test.ts
 *   SIXTABLES_ORACLE=legacy@127.0.0.1:9705 …
 */

import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import { encodeRequest, requestToJson } from '../support/published-protos.ts'
import {
  type Host,
  openWire,
  readAnswer,
  type Wire,
  type WireAnswer,
  type WireName,
  wireNames,
} from '../support/wires.ts'
import { atomic, type Code, type Column, entity, type Row, worldOf } from './errors/row.ts'
import { sections } from './errors/sections.ts'

const allRows = sections.flatMap(([, rows]) => rows)

const httpStatuses: Readonly<Record<Code, number>> = {
  OK: 200,
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  UNKNOWN: 500,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
}

/** What stands in the column of one of Google's emulators. */
function measured(row: Row, column: Column, name: WireName): Code {
  const exception = row.exceptions?.find(({ column: itsColumn, wire }) => itsColumn === column && wire === name)
  return exception?.code ?? (column === 'legacy' ? row.legacy : undefined) ?? row.firestore
}

/** What ours must answer in a mode. */
function expected(row: Row, column: Column): Code {
  const code = row.ours?.code ?? row.firestore
  return column === 'legacy' ? (row.oursLegacy ?? code) : code
}

/** An emulator may still have what an earlier run left. */
const run = `row-${process.pid}`

/** The wires to one server, and the rows sent over them. */
class Table {
  readonly #wires = new Map<WireName, Wire>()

  async open(at: Host): Promise<void> {
    for (const name of wireNames) this.#wires.set(name, await openWire(name, at))
  }

  close(): void {
    for (const wire of this.#wires.values()) wire.close()
  }

  wire(name: WireName): Wire {
    const wire = this.#wires.get(name)
    if (wire === undefined) throw new Error(`no connection over ${name}`)
    return wire
  }

  /** Each row on each wire has a project of its own, so that none meets what another one left. */
  async send(row: Row, name: WireName): Promise<WireAnswer> {
    const project = `${run}-${allRows.indexOf(row)}-${wireNames.indexOf(name)}`
    const grpc = this.wire('gRPC')
    const world = worldOf(project, async (method, request) => {
      const answer = await grpc.send(project, method, request)
      expect(answer, `${method} that prepares the row`).toMatchObject({ code: 'OK' })
      return readAnswer(grpc, method, answer)
    })
    const request = typeof row.request === 'function' ? await row.request(world) : row.request
    if (Buffer.isBuffer(request)) return this.wire(name).send(project, row.method, request)
    const { projectId, ...rest } = request
    if (projectId === undefined) return this.wire(name).send(project, row.method, rest)
    if (name === 'gRPC') return this.wire(name).send(project, row.method, request)
    return this.wire(name).send(String(projectId), row.method, rest)
  }
}

const title = ({ number, input, method }: Row): string =>
  `${number === undefined ? '' : `${number} `}${method}: ${input}`

/** Why a row is not sent over a wire. */
function silence(row: Row, name: WireName): string | undefined {
  if (name !== 'gRPC' && row.notOverHttp !== undefined) return row.notOverHttp
  return name === 'HTTP JSON' ? row.notInJson : undefined
}

type Judge = (row: Row, answer: WireAnswer) => void

function rowsOver(table: Table, name: WireName, judge: Judge): void {
  for (const [section, rows] of sections) {
    describe(section, () => {
      for (const row of rows) {
        test(title(row), async ({ skip }) => {
          const why = silence(row, name)
          // Reason: such a request cannot be said over this wire.
          skip(why !== undefined, why)
          judge(row, await table.send(row, name))
        })
      }
    })
  }
}

const [oracleColumn, oracleHost = '', oraclePort] = (process.env['SIXTABLES_ORACLE'] ?? '').split(/[@:]/)

if (oracleColumn === 'firestore' || oracleColumn === 'legacy') {
  describe.each(wireNames)(`the ${oracleColumn} emulator over %s`, (name) => {
    const table = new Table()
    beforeAll(() => table.open({ host: oracleHost, port: Number(oraclePort) }))
    afterAll(() => table.close())
    rowsOver(table, name, (row, { code }) => expect(code).toBe(measured(row, oracleColumn, name)))
  })
} else {
  for (const mode of ['firestore', 'legacy'] as const) {
    describe.each(wireNames)(`in ${mode} mode over %s`, (name) => {
      const table = new Table()
      let engine: Engine
      let gateway: Gateway

      beforeAll(async () => {
        engine = await openEngine({ mode })
        gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
        await table.open(gateway)
      })

      afterAll(async () => {
        table.close()
        await gateway.close()
        await engine.close()
      })

      rowsOver(table, name, (row, answer) => {
        const code = expected(row, mode)
        const { message, httpStatus } = answer
        expect(answer.code, message).toBe(code)
        if (name !== 'gRPC') expect(httpStatus).toBe(httpStatuses[code])
        if (code === 'OK') return
        expect(message).not.toBe('')
        if (row.names !== undefined) expect(message).toMatch(row.names)
      })

      // The table is full of things that must not shake a server.
      test('the server still serves', async () => {
        const answer = await table.wire(name).send('p', 'Commit', atomic({ upsert: entity({ path: [{ kind: 'K' }] }) }))
        expect(answer.code, answer.message).toBe('OK')
      })
    })
  }
}

describe('the table', () => {
  test('has every row of the measurements', () => {
    const numbers = new Set(allRows.map(({ number }) => number))
    numbers.delete(undefined)
    expect([...numbers]).toEqual(Array.from({ length: 218 }, (_, i) => i + 1))
  })

  test.each(allRows.filter(({ notInJson }) => notInJson !== undefined).map((row) => [title(row), row] as const))(
    'leaves out of JSON only what JSON cannot say: %s',
    (_title, { method, request }) => {
      if (typeof request === 'function' || Buffer.isBuffer(request)) return
      expect(() => requestToJson(method, encodeRequest(method, request))).toThrow()
    },
  )
})
