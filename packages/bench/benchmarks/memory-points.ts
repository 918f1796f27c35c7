/**
 * Rows of Entities in memory, read and written one by one at random places.
 *
 *   ids      keys of one kind with scattered 16-digit ids, put in as they come
 *   names    keys of one kind with names like n0000077, put in in their order
 *
 * ns of CPU a call, the second lowest of five rounds. Keys are strings of their own, as they are when they come from a request.
 * Run it with `npm run bench:storage -- points` in packages/bench, after a build.
 */
import { MemoryKv, seededRandom } from '@sixtables/engine/testing'

const sizes = [10_000, 1_000_000]
const probesMax = 200_000
const callsOfRound = 400_000
const rounds = 5

const random = seededRandom(1)
const value = new Uint8Array(1)
const before = 'Ea-project\0\x01\0\x01\0\x01\x01Task\0\x01'

function own(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

function scatteredId(): string {
  const id = Buffer.alloc(8)
  id.writeBigInt64BE(BigInt(5e15 + random.integer(1e9) * 4e6 + random.integer(4e6)))
  return `\x02${id.toString('latin1')}`
}

function keysOf(shape: string, size: number): string[] {
  return Array.from({ length: size }, (_, i) =>
    own(`${before}${shape === 'ids' ? scatteredId() : `\x03n${String(i).padStart(7, '0')}\0\x01`}\0`),
  )
}

/** ns a call. */
function measure(probes: readonly string[], call: (key: string) => unknown): number {
  const perRound: number[] = []
  // The first two rounds are for the compiler.
  for (let round = -2; round < rounds; round++) {
    const start = process.cpuUsage()
    let calls = 0
    while (calls < callsOfRound) {
      for (const key of probes) call(key)
      calls += probes.length
    }
    const { user, system } = process.cpuUsage(start)
    if (round >= 0) perRound.push(((user + system) * 1000) / calls)
  }
  return perRound.sort((a, b) => a - b)[1] as number
}

for (const size of sizes) {
  for (const shape of ['ids', 'names']) {
    const keys = keysOf(shape, size)
    const kv = new MemoryKv()
    for (const key of keys) kv.mutate({ key: own(key), value })
    const probes = Array.from({ length: Math.min(size, probesMax) }, () => own(keys[random.integer(size)] as string))
    const get = measure(probes, (key) => kv.get(key))
    const set = measure(probes, (key) => kv.mutate({ key, value }))
    const title = `${size.toLocaleString('en')} ${shape}`
    console.log(`${title.padEnd(18)} get ${get.toFixed(0).padStart(5)} ns   set ${set.toFixed(0).padStart(5)} ns`)
  }
}
