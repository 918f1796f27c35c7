/**
 * A program in JavaScript for simulated time (program/host.mjs), run by a command: calls come as lines of JSON, and `db` uses the HTTP JSON API.
 * So the right and wrong programs of the challenges are judged both ways.
 *
 *   node command-host.mjs PROGRAM
 */
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const { DATASTORE_EMULATOR_HOST: host, DATASTORE_PROJECT_ID: project } = process.env

async function ask(method, body) {
  const response = await fetch(`http://${host}/v1/projects/${project}:${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { error, ...answer } = await response.json()
  if (error !== undefined) throw Object.assign(new Error(error.message), { name: 'DatastoreError', code: error.status })
  return answer
}

function keyOf(path) {
  const elements = []
  for (let i = 0; i < path.length; i += 2) {
    const [kind, name] = [path[i], path[i + 1]]
    elements.push(
      name === undefined ? { kind } : typeof name === 'string' ? { kind, name } : { kind, id: String(name) },
    )
  }
  return { path: elements }
}

const numberOf = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text))
const pathOf = ({ path }) => path.flatMap(({ kind, name, id }) => [kind, name ?? numberOf(id)])

function typedOf(plain, isUnindexed = false) {
  if (Array.isArray(plain)) return { arrayValue: { values: plain.map((one) => typedOf(one, isUnindexed)) } }
  return { ...typed(plain), ...(isUnindexed ? { excludeFromIndexes: true } : {}) }
}

function typed(plain) {
  if (plain === null) return { nullValue: null }
  if (plain instanceof Date) return { timestampValue: plain.toISOString() }
  if (typeof plain === 'string') return { stringValue: plain }
  if (typeof plain === 'boolean') return { booleanValue: plain }
  return Number.isInteger(plain) || typeof plain === 'bigint' ? { integerValue: String(plain) } : { doubleValue: plain }
}

function plainOf({ arrayValue, integerValue, timestampValue, stringValue, doubleValue, booleanValue }) {
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(plainOf)
  if (integerValue !== undefined) return numberOf(integerValue)
  if (timestampValue !== undefined) return new Date(timestampValue)
  return stringValue ?? doubleValue ?? booleanValue ?? null
}

function entityOf({ key, properties = {} }) {
  const plain = Object.entries(properties).map(([name, value]) => [name, plainOf(value)])
  return { ...Object.fromEntries(plain), key: pathOf(key) }
}

function written(key, properties, { unindexed = [] } = {}) {
  const values = Object.entries(properties).filter(([name, plain]) => plain !== undefined && name !== 'key')
  const own = values.map(([name, plain]) => [name, typedOf(plain, unindexed.includes(name))])
  return { key: keyOf(key), properties: Object.fromEntries(own) }
}

const operators = { '=': 'EQUAL', '<': 'LESS_THAN', '<=': 'LESS_THAN_OR_EQUAL', '>': 'GREATER_THAN' }
Object.assign(operators, { '>=': 'GREATER_THAN_OR_EQUAL', '!=': 'NOT_EQUAL', in: 'IN', ancestor: 'HAS_ANCESTOR' })

function queryOf({ kind, where = [], order = [], ancestor, limit, offset = 0, cursor, keysOnly = false }) {
  const all = ancestor === undefined ? where : [...where, ['__key__', 'ancestor', ancestor]]
  const filters = all.map(([name, operator, plain]) => {
    const value = name === '__key__' ? { keyValue: keyOf(plain) } : typedOf(plain)
    return { propertyFilter: { property: { name }, op: operators[operator], value } }
  })
  return {
    ...{ kind: [{ name: kind }], offset, limit, startCursor: cursor },
    ...(keysOnly ? { projection: [{ property: { name: '__key__' } }] } : {}),
    ...(filters.length === 0 ? {} : { filter: { compositeFilter: { op: 'AND', filters } } }),
    order: order.map((name) => ({
      property: { name: name.replace(/^-/, '') },
      direction: name.startsWith('-') ? 'DESCENDING' : 'ASCENDING',
    })),
  }
}

function readerIn(transaction) {
  const readOptions = transaction === undefined ? undefined : { transaction }
  const getAll = async (keys) => {
    const { found = [] } = await ask('lookup', { keys: keys.map(keyOf), readOptions })
    const words = (path) => JSON.stringify(path.map(String))
    const byPath = new Map(found.map(({ entity }) => [words(pathOf(entity.key)), entityOf(entity)]))
    return keys.map((key) => byPath.get(words(key)))
  }
  const query = async (options) => {
    const entities = []
    for (let wanted = queryOf(options); ; ) {
      const { batch } = await ask('runQuery', { query: wanted, readOptions })
      entities.push(...(batch.entityResults ?? []).map(({ entity }) => entityOf(entity)))
      if (batch.moreResults !== 'NOT_FINISHED') return { entities, cursor: batch.endCursor }
      const { limit, offset } = wanted
      const left = limit === undefined ? undefined : options.limit - entities.length
      wanted = { ...wanted, limit: left, offset: offset - (batch.skippedResults ?? 0), startCursor: batch.endCursor }
    }
  }
  return { getAll, query, get: async (key) => (await getAll([key]))[0] }
}

const commit = (mutations, transaction) =>
  ask('commit', { mode: transaction === undefined ? 'NON_TRANSACTIONAL' : 'TRANSACTIONAL', transaction, mutations })

async function transaction(work) {
  for (let attempt = 1; ; attempt++) {
    const { transaction: own } = await ask('beginTransaction', {})
    const mutations = []
    const later = async (mutation) => void mutations.push(mutation)
    try {
      const result = await work({
        ...readerIn(own),
        put: (...args) => later({ upsert: written(...args) }),
        insert: (...args) => later({ insert: written(...args) }),
        remove: async (...keys) => void mutations.push(...keys.map((key) => ({ delete: keyOf(key) }))),
      })
      await commit(mutations, own)
      return result
    } catch (error) {
      await ask('rollback', { transaction: own }).catch(() => {})
      if (!['ABORTED', 'UNAVAILABLE'].includes(error.code) || attempt === 6) throw error
      await new Promise((done) => setTimeout(done, 50 * 2 ** attempt))
    }
  }
}

const db = {
  ...readerIn(undefined),
  put: async (...args) => void (await commit([{ upsert: written(...args) }])),
  insert: async (...args) => void (await commit([{ insert: written(...args) }])),
  remove: async (...keys) => void (await commit(keys.map((key) => ({ delete: keyOf(key) })))),
  count: async (options) => (await db.query({ ...options, keysOnly: true })).entities.length,
  allocateId: async (kind) => pathOf((await ask('allocateIds', { keys: [keyOf([kind])] })).keys[0])[1],
  transaction,
  random: Math.random,
  now: Date.now,
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
}

/** Times are Dates for these programs, and what is absent is `undefined`. */
function revived(value) {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return new Date(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? undefined
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revived(one)]))
}

const put = (line) =>
  process.stdout.write(`${JSON.stringify(line, (_, one) => (typeof one === 'bigint' ? String(one) : one))}\n`)
const program = await import(pathToFileURL(process.argv[2]).href)
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, call, ...args } = JSON.parse(line)
  try {
    put({ id, answer: (await program[call](db, ...Object.values(args).map(revived))) ?? null })
  } catch (error) {
    const { code, message } = error
    put({ id, error: typeof code === 'string' ? { code, message } : `${error.name}: ${message}` })
  }
})
