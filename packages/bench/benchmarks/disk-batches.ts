/**
 * Commits of 100 entities on disk, beside what LevelDB itself takes to write the same rows.
 *
 *   engine            evaluates, encodes and commits 100 upserts
 *   store             a store like the engine's is handed what the engine hands to its own
 *   LevelDB, array    LevelDB alone is handed the same rows: `db.batch([{ type, key, value }, …])`
 *   LevelDB, chained  the same by `db.batch().put(key, value)…write()`, which costs less
 *   engine in memory  the same commits without a disk, for scale
 *
 * Each has a process and a folder of its own (disk-batches-subject.ts), with the same options, and they take turns, one
 * round each: a round writes 32 times 100 entities that are new, and begins with another of them. Figures are medians of the
 * rounds; CPU is that of all threads. Entities are those of a to-do list: six indexed properties, one that is not, 300 bytes.
 *
 * Run it with `npm run bench:storage -- batches` in packages/bench, after a build; a number says how many rounds.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { commitsOfRound, entitiesOfCommit, type Round, subjectNames } from './disk-batches-subject.ts'

interface Subject {
  readonly name: string
  readonly child: ChildProcess
  readonly rounds: Round[]
}

/** The first ones warm up. */
const roundsPassedOver = 2

async function begin(name: string, streams: number): Promise<Subject> {
  const file = fileURLToPath(new URL('./disk-batches-subject.js', import.meta.url))
  const child = fork(file, [name, String(streams)])
  await once(child, 'message')
  return { name, child, rounds: [] }
}

async function round({ child, name }: Subject, number: number): Promise<Round> {
  child.send(number)
  const over = new AbortController()
  try {
    const ended = once(child, 'exit', over).then(() => {
      throw new Error(`the process of "${name}" ended in round ${number}`)
    })
    const [done] = await Promise.race([once(child, 'message', over), ended])
    return done as Round
  } finally {
    over.abort()
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? Number.NaN) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2
}

async function measure(rounds: number, streams: number): Promise<void> {
  const subjects: Subject[] = []
  try {
    for (const name of subjectNames) subjects.push(await begin(name, streams))
    for (let number = 0; number < roundsPassedOver + rounds; number++) {
      const first = number % subjects.length
      for (const one of [...subjects.slice(first), ...subjects.slice(0, first)]) {
        const done = await round(one, number)
        if (number >= roundsPassedOver) one.rounds.push(done)
      }
      process.stderr.write(`\r@${streams}: round ${number + 1} of ${roundsPassedOver + rounds} `)
    }
    process.stderr.write('\r')
  } finally {
    for (const { child } of subjects) if (child.connected) child.disconnect()
  }
  print(subjects, streams)
}

function print(subjects: readonly Subject[], streams: number): void {
  const [ours] = subjects
  const rows = median(subjects.flatMap(({ rounds }) => rounds.flatMap((one) => one.rows ?? [])))
  const commits = (ours?.rounds.length ?? 0) * commitsOfRound
  console.log(`@${streams}: ${commits} commits of ${entitiesOfCommit} entities, ${rows.toFixed(0)} rows each`)
  for (const { name, rounds } of subjects) {
    const [ms, cpuMs] = [median(rounds.map((one) => one.ms)), median(rounds.map((one) => one.cpuMs))]
    // Each round beside the engine's own, so that a disturbance of the machine meets both.
    const share = median(rounds.map((one, i) => (one.ms / (ours?.rounds[i]?.ms ?? Number.NaN)) * 100))
    const cpuShare = median(rounds.map((one, i) => (one.cpuMs / (ours?.rounds[i]?.cpuMs ?? Number.NaN)) * 100))
    console.log(
      `  ${name.padEnd(17)} ${(1e3 / ms).toFixed(0).padStart(5)} commits/s ${ms.toFixed(2).padStart(7)} ms` +
        `  CPU ${cpuMs.toFixed(2).padStart(6)} ms   the engine does ${share.toFixed(0).padStart(4)} % of it,` +
        ` by CPU ${cpuShare.toFixed(0).padStart(4)} %`,
    )
  }
}

const rounds = Number(process.argv[3] ?? 16)
for (const streams of [1, 16]) await measure(rounds, streams)
