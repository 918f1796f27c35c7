/** The API over two gateways at rows in memory. */
import { type Engine, openEngine } from '@sixtables/engine'
import { apiContract } from '../../../gateway/test/contract/api.contract.ts'
import { engineClient } from '../../../gateway/test/support/engine-client.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { MemoryRows } from '../../src/row-store/memory-rows.ts'

/** Each call goes to the other of two engines. */
function inTurn(engines: readonly [Engine, Engine]): Engine {
  let calls = 0
  const next = (): Engine => engines[++calls % 2] as Engine
  return new Proxy(engines[0], { get: (_, name) => Reflect.get(next(), name).bind(next()) })
}

let shared: readonly Engine[] = []
apiContract(
  'the engines of two processes in turn, at one store of rows',
  async () => {
    const rows = new MemoryRows()
    const open = (gateway: number) =>
      openEngine({ store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway }) })
    shared = await Promise.all([open(1), open(2)])
    return {
      host: '',
      port: 0,
      empty: async () => await shared[0]?.reset(),
      close: async () => void (await Promise.all(shared.map((engine) => engine.close()))),
    }
  },
  async () => engineClient(inTurn(shared as [Engine, Engine])),
)
