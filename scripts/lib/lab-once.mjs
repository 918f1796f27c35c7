/**
 * One lab, or one judging of a challenge with all of the judge's seeds, in a process of its own (labs-cpu.mjs).
 *
 *   node lab-once.mjs run LAB
 *   node lab-once.mjs judge CHALLENGE PROGRAM
 *   node lab-once.mjs command CHALLENGE PROGRAM     the same program by a command (packages/bench/test/support/command-host.mjs)
 */
import { challenges } from '../../packages/bench/dist/challenges/catalogue.js'
import { keptGiven } from '../../packages/bench/dist/challenges/given.js'
import { judge } from '../../packages/bench/dist/challenges/judge.js'
import { labs } from '../../packages/bench/dist/labs/catalogue.js'
import { runLab } from '../../packages/bench/dist/runner.js'
import { root } from './tools.mjs'

const [, , what, name, program] = process.argv
const named = (one) => one.name === name
const byCommand = {
  command: `"${process.execPath}" packages/bench/test/support/command-host.mjs "${program}"`,
  folder: root,
}
const { passed } =
  what === 'run'
    ? await runLab(labs.find(named), { seed: 1 })
    : await judge(challenges.find(named), what === 'judge' ? program : byCommand, keptGiven(name))
console.log(passed ? 'passed' : 'failed')
