/**
 * Prints the CPU time of every lab with its own settings, and of judging programs of every challenge, which a busy machine changes little. Fails
 * if a lab takes more than 8 s, or a judging more than 20 s with the processes of its program.
 *
 *   npm run labs:cpu            all labs; of each challenge the given program, also by a command, a right and a wrong one
 *   npm run labs:cpu -- NAME…   these labs and challenges
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root, ScriptError, script } from './lib/tools.mjs'
import './setup.mjs'

const secondsMax = { run: 8, judge: 20, command: 20 }
const asked = process.argv.slice(2)
const isAsked = ({ name }) => asked.length === 0 || asked.includes(name)
const programs = join(root, 'packages/bench/test/challenges')

await script(async () => {
  const { challenges } = await import('../packages/bench/dist/challenges/catalogue.js')
  const { givenFile } = await import('../packages/bench/dist/challenges/given.js')
  const { labs } = await import('../packages/bench/dist/labs/catalogue.js')
  const runs = labs.filter(isAsked).map(({ name }) => ['run', name])
  for (const { name } of challenges.filter(isAsked)) {
    const given = givenFile(name, 'solution.mjs')
    runs.push(['judge', name, given], ['command', name, given])
    for (const kind of ['right', 'wrong']) {
      const first = readdirSync(join(programs, name))
        .toSorted()
        .find((file) => file.startsWith(kind))
      runs.push(['judge', name, join(programs, name, first)])
    }
  }
  if (runs.length === 0) throw new ScriptError(`there is no lab or challenge ${asked.join(', ')}`)
  const tooLong = runs.filter((run) => cpuOf(run) > secondsMax[run[0]])
  if (tooLong.length > 0) throw new ScriptError(`too much CPU time: ${tooLong.map((run) => run.join(' ')).join(', ')}`)
})

/** Runs a lab or a judging, and prints a line. @returns seconds of CPU time of its process and of all that it started */
function cpuOf([what, name, program = '']) {
  const once = join(root, 'scripts/lib/lab-once.mjs')
  const command = ['-c', '"$@" && times', 'sh', process.execPath, once, what, name, program]
  const { stdout, status } = spawnSync('sh', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (status !== 0) throw new ScriptError(`${what} ${name} ${program} ended without a verdict`)
  const [verdict] = stdout.split('\n')
  // The last line of `times` is of the shell's children: 0m12.340s 0m0.560s
  const times = [...(stdout.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
  const seconds = times.reduce((sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest), 0)
  const words = what === 'run' ? '' : `${program.split('/').at(-1)}${what === 'command' ? ' by a command' : ''}`
  console.log(`${name.padEnd(24)} ${words.padEnd(32)} ${verdict} ${seconds.toFixed(1).padStart(6)} s`)
  return seconds
}
