/** Steps of cases, and the parts of their requests that several areas have. */
import type { Plain } from '../../../packages/gateway/test/support/published-protos.ts'
import type { Step } from '../case.ts'

/** A commit of its own; an atomic one is a transaction of a single use. */
export const commitOf = (mutations: readonly Plain[], isAtomic = false): Step => ({
  method: 'Commit',
  request: isAtomic
    ? { mode: 'TRANSACTIONAL', singleUseTransaction: {}, mutations }
    : { mode: 'NON_TRANSACTIONAL', mutations },
})

export const lookup = (keys: readonly Plain[]): Step => ({ method: 'Lookup', request: { keys } })

/** @param base - the step that asks the same without limit, offset and cursors */
export const runQuery = (query: Plain, base?: number): Step => ({
  method: 'RunQuery',
  request: { query },
  ...(base === undefined ? {} : { base }),
})

export const reference = (name: string): Plain => ({ property: { name } })

export const propertyFilter = (name: string, op: string, value: Plain): Plain => ({
  propertyFilter: { ...reference(name), op, value },
})
