import { offsetCursor } from '../../src/labs/offset-cursor.ts'
import { type Fault, faultsOf, spoil } from '../support/fault-suite.ts'

const exchanged: Fault = { fault: 'the two arms mislabelled', swap: ['offset', 'cursor'] }
const liveByOffset: Fault = { fault: 'its pages begin at offsets', as: { 'cursor-live': 'offset-live' } }

const loses: Fault = {
  fault: 'a query loses its first result',
  hook: ({ database }) =>
    spoil(database, 'explainQuery', (sound) => async (context, request, options) => {
      const answer = await sound(context, request, options)
      const { batch } = answer
      return batch === undefined ? answer : { ...answer, batch: { ...batch, results: batch.results.slice(1) } }
    }),
}

faultsOf(
  offsetCursor,
  {
    'a page by offset reads what it skips': exchanged,
    'a page by cursor reads the same, first or last': exchanged,
    'what is skipped is billed, page after page': exchanged,
    'the last page takes longer by offset': exchanged,
    'both give every result once while nothing changes': loses,
    'offset-live: what comes to the head pushes results onto the next page, where they are given again': {
      fault: 'its pages begin at cursors',
      as: { 'offset-live': 'cursor-live' },
    },
    'cursor-live: nothing is given again': liveByOffset,
    'cursor-live: nothing is missed': liveByOffset,
    'offset: the engine warns of it': exchanged,
    'cursor: the engine has nothing to say': exchanged,
  },
  { settings: { 'work.records': 1500 } },
)
