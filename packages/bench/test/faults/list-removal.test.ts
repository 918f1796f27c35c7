import { listRemoval } from '../../src/labs/list-removal.ts'
import { faultsOf } from '../support/fault-suite.ts'

const retried = (arm: string) => ({ fault: `removals by CAS under the name of ${arm}`, as: { [arm]: 'cas' } })
const overwritten = (arm: string) => ({ fault: `plain puts under the name of ${arm}`, as: { [arm]: 'plain-put' } })
const end = 'ends with those who follow, also with those who came back'

faultsOf(
  listRemoval,
  {
    'cas: removals starve while the list changes fast': {
      fault: 'one writer alone',
      settings: { 'load.writersMax': 1 },
    },
    'tombstones: nothing is tried twice': retried('tombstones'),
    'log: nothing is tried twice': retried('log'),
    'two-lists: nothing is tried twice': retried('two-lists'),
    'transforms: nothing is tried twice': retried('transforms'),
    'a removal takes several times as long by CAS': retried('transforms'),
    'commas: a name with the delimiter in it becomes two, and is never removed': {
      fault: 'the delimiter is escaped',
      as: { commas: 'escaped-commas' },
    },
    'escaped-commas: with the delimiter escaped the list is right': {
      fault: 'the delimiter is not escaped',
      as: { 'escaped-commas': 'commas' },
    },
    'plain-put: loses changes': { fault: 'transforms under its name', as: { 'plain-put': 'transforms' } },
    [`cas: ${end}`]: overwritten('cas'),
    [`tombstones: ${end}`]: overwritten('tombstones'),
    [`log: ${end}`]: overwritten('log'),
    [`two-lists: ${end}`]: overwritten('two-lists'),
    [`transforms: ${end}`]: overwritten('transforms'),
    'all of these end with the same number of followers': overwritten('log'),
    'the log keeps every change, the transforms only the followers': {
      fault: 'arms mislabelled',
      swap: ['log', 'transforms'],
    },
  },
  { settings: { 'list.changes': 3 }, isDear: true },
)
