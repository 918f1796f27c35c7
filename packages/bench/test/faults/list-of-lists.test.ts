import { listOfLists } from '../../src/labs/list-of-lists.ts'
import { faultsOf } from '../support/fault-suite.ts'

const oneSubList = {
  fault: 'there is but one sub-list, which is the newest',
  settings: { 'list.followers': 10_000, 'list.entriesMax': 25_000 },
}

faultsOf(
  listOfLists,
  {
    'one-item: is refused at the limit of an entity, long before all are in it': {
      fault: 'a short list',
      settings: { 'list.followers': 5000 },
    },
    'sub-lists: all followers are stored, each once': {
      fault: 'one item under the name of sub-lists',
      as: { 'sub-lists': 'one-item' },
    },
    'a new follower costs a small part of the bytes in sub-lists': oneSubList,
    'sub-lists: the old ones are compacted at the first attempt': oneSubList,
    'sub-lists: the newest one is not, while it grows': {
      fault: 'no writer goes on to append',
      settings: { 'load.writersMax': 0 },
    },
    'sub-lists: compacted, they are shorter, and hold those who stayed': oneSubList,
  },
  { settings: { 'list.followers': 60_000 }, isDear: true },
)
