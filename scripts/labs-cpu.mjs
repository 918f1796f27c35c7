/**
 * Runs every lab once with its own settings, and prints the CPU time of each, which a busy machine changes little. Fails if one takes more
 * than 8 s.
 *
 *   npm run labs:cpu            all labs
 *   npm run labs:cpu -- NAME…   these
 */
import './setup.mjs'

const { labs } = await import('../packages/bench/dist/labs/catalogue.js')
const { runLab } = await import('../packages/bench/dist/runner.js')

const secondsMax = 8
const asked = process.argv.slice(2)
const tooLong = []
for (const lab of labs) {
  if (asked.length > 0 && !asked.includes(lab.name)) continue
  const before = process.cpuUsage()
  await runLab(lab, { seed: 1 })
  const { user, system } = process.cpuUsage(before)
  const seconds = (user + system) / 1e6
  if (seconds > secondsMax) tooLong.push(lab.name)
  console.log(`${lab.name.padEnd(28)} ${seconds.toFixed(1).padStart(6)} s`)
}
if (tooLong.length > 0) {
  console.error(`above ${secondsMax} s of CPU time: ${tooLong.join(', ')}`)
  process.exitCode = 1
}
