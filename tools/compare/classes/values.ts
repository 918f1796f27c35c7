/** Classes about values: what may be written, and how it comes back. */
import { at, listOf } from '../case.ts'
import { type ClassTable, holds, isArray } from './look.ts'

export const valueClasses: ClassTable = {
  'array-order-kept': {
    what: 'an array with elements that are excluded from indexes, read again',
    ours: 'in its order',
    legacy: 'the excluded elements after the others',
    why: 'an array has an order',
    explains: ({ isAbout, path, stored }) =>
      isAbout('entity') &&
      path.includes('arrayValue') &&
      stored((v) => isArray(v) && JSON.stringify(v).includes('excludeFromIndexes')),
  },
  'empty-array-in-an-array': {
    what: 'an array in an array, where the inner one is empty',
    ours: 'INVALID_ARGUMENT',
    legacy: 'accepted',
    why: 'arrays do not nest (API); the Firestore emulator refuses it',
    explains: ({ weRefuse, mutations }) =>
      weRefuse &&
      holds(mutations, (value) => isArray(value) && listOf(at(value, ['arrayValue', 'values'])).some(isArray)),
  },
  'user-fields': {
    what: 'a value of meaning 20, a user: which fields its entity must have',
    ours: 'any',
    legacy: 'email and auth_domain, excluded from indexes, and others that it knows',
    firestore: 'the same',
    why: 'not documented; such values come from the first App Engine, and what an export holds must load',
    explains: ({ theyRefuse, mutations }) => theyRefuse && holds(mutations, (value) => value['meaning'] === 20),
  },
  'four-underscores': {
    what: 'the name `____`, of nothing but the four underscores of a reserved name',
    ours: 'INVALID_ARGUMENT',
    legacy: 'accepted as a name and as a namespace',
    firestore: 'accepted',
    why: 'reserved is what matches `__.*__` (API)',
    explains: ({ weRefuse, request }) => weRefuse && JSON.stringify(request).includes('"____"'),
  },
  'limits-of-production': {
    what: 'sizes and numbers above a limit of production',
    ours: 'INVALID_ARGUMENT',
    legacy: 'accepted',
    firestore: 'a Lookup of more than 1,000 keys is accepted',
    why: 'what production refuses should fail before it is there',
    explains: ({ weRefuse, ourMessage, mode, method }) =>
      weRefuse && /at most|more than/.test(ourMessage) && (mode === 'legacy' || method === 'Lookup'),
  },
  'meaning-of-points': {
    what: 'meaning 23 on a geo point',
    ours: 'INVALID_ARGUMENT',
    legacy: 'accepted',
    why: 'the Firestore emulator refuses it',
    explains: ({ weRefuse, mutations }) => weRefuse && holds(mutations, (value) => value['meaning'] === 23),
  },
  'meaning-of-byte-strings': {
    what: 'meaning 16 on an indexed blob, read again',
    ours: 'kept',
    legacy: 'dropped',
    firestore: 'dropped',
    why: 'a value comes back as it was written',
    explains: ({ isAbout, path, ours, theirs }) =>
      isAbout('entity') && path.at(-1) === 'meaning' && ours === 16 && theirs === undefined,
  },
}
