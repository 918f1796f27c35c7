import { listCompaction } from '../../src/labs/list-compaction.ts'
import { faultsOf } from '../support/fault-suite.ts'

const oneList = (arm: string) => ({ fault: `the one list under the name of ${arm}`, as: { [arm]: 'cas' } })
const clearedFirst = (arm: string) => ({ fault: `clears before it copies: ${arm}`, as: { [arm]: 'clear-first' } })
const atOnce = (arm: string) => ({ fault: `copies and clears in one commit: ${arm}`, as: { [arm]: 'one-commit' } })
const rarely = { fault: 'clients come by rarely', settings: { 'list.compactEveryMs': 30_000 } }
const whole = 'nothing is lost, and nothing comes back'

faultsOf(
  listCompaction,
  {
    'cas: compactions fail like removals do while the list changes': {
      fault: 'two lists under its name',
      as: { cas: 'marker' },
    },
    'active-pointer: compacts under load': oneList('active-pointer'),
    'marker: compacts under load': oneList('marker'),
    'one-commit: compacts under load': oneList('one-commit'),
    'active-pointer: a killed client leaves repeats': atOnce('active-pointer'),
    'marker: a killed client leaves repeats': atOnce('marker'),
    'active-pointer: repeats settle in seconds': rarely,
    'marker: repeats settle in seconds': rarely,
    'one-commit: there is never a repeat': { fault: 'arms mislabelled', swap: ['one-commit', 'active-pointer'] },
    [`cas: ${whole}`]: clearedFirst('cas'),
    [`active-pointer: ${whole}`]: clearedFirst('active-pointer'),
    [`marker: ${whole}`]: clearedFirst('marker'),
    [`one-commit: ${whole}`]: clearedFirst('one-commit'),
    'clear-first: a killed client loses followers': {
      fault: 'arms mislabelled',
      swap: ['clear-first', 'active-pointer'],
    },
  },
  { settings: { 'load.seconds': 60 }, isDear: true },
)
