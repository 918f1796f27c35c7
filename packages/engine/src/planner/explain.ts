/**
 * A plan in words, as a tree, and as text with one node per line, inputs indented below:
 *
 *   union
 *     mergeJoin in key order
 *       scan EntitiesByPropertyAsc ToDo.done = false
 *       scan EntitiesByPropertyAsc ToDo.owner = "ada"
 *     scan …
 *   each entity once, at the first of its rows
 *
 * Everything is taken from the plan; values are decoded from their codes.
 */
import { invert } from '../encoding/bytes.ts'
import { decodePath } from '../encoding/key-codec.ts'
import { prettyValue } from '../encoding/pretty.ts'
import { decodeValueCode, likelyType } from '../encoding/value-codec.ts'
import { formatIndex } from '../model/index-definition.ts'
import { formatKey } from '../model/key.ts'
import type { IndexableValue } from '../model/value.ts'
import type { PlanStep, PlanTree } from '../request-trace.ts'
import type { Column } from './normal-query.ts'
import { inputsOf, type Plan, type PlanNode, type ScanNode } from './plan-node.ts'
import { codesEnd, type Span } from './spans.ts'

export function planTree(plan: Plan): PlanTree {
  const results: string[] = []
  if (plan.firstRowOnly) results.push('each entity once, at the first of its rows')
  if (plan.distinctColumns !== undefined) {
    const names = plan.columns.slice(0, plan.distinctColumns).map(({ property }) => property)
    results.push(names.length === 0 ? 'the first result' : `the first result for each ${names.join(', ')}`)
  }
  const given = {
    full: 'entities, by key',
    keyOnly: 'keys',
    projection: `${plan.projection.join(', ')}, from the rows`,
  }
  results.push(`give ${given[plan.resultType]}`)
  return { source: planStep(plan, plan.source), results }
}

export function planText({ source, results }: PlanTree): string {
  return [...stepLines(source, ''), ...results].join('\n')
}

function stepLines({ words, inputs }: PlanStep, indent: string): string[] {
  return [`${indent}${words}`, ...inputs.flatMap((input) => stepLines(input, `${indent}  `))]
}

function planStep(plan: Plan, node: PlanNode): PlanStep {
  const { type } = node
  const inputs = inputsOf(node).map((input) => planStep(plan, input))
  switch (node.type) {
    case 'scan': {
      const index = node.index === undefined ? {} : { index: formatIndex(node.index) }
      return { type, words: explainScan(plan, node), table: node.table, ...index, inputs }
    }
    case 'mergeJoin':
    case 'union':
      return { type, words: `${type} by ${orderWords(plan)}`, inputs }
    case 'filter': {
      const conditions = node.columnSpans.flatMap((spans, i) =>
        spans === undefined ? [] : [spanWords(spans, plan.columns[i])],
      )
      if (node.pathSpans !== undefined) conditions.push(spanWords(node.pathSpans, undefined))
      return { type, words: `filter ${conditions.join(' and ')}`, inputs }
    }
    case 'late': {
      const conditions = node.lateSpans.map((spans, i) => {
        const column = plan.lateColumns[i]
        return (spans === undefined ? '' : spanWords(spans, column)) || `with ${column?.property ?? ''}`
      })
      return { type, words: `read each entity: ${conditions.join(' and ')}`, inputs }
    }
    case 'empty':
      return { type, words: 'nothing: the filter contradicts itself', inputs }
  }
}

function orderWords({ columns, lateColumns, everyRow, reverse }: Plan): string {
  const words = ({ property, direction }: Column) => (direction === 'ascending' ? property : `${property} desc`)
  const late = everyRow ? lateColumns.map(words) : []
  return [...columns.map(words), reverse ? '__key__ desc' : '__key__', ...late].join(', ')
}

function explainScan(plan: Plan, node: ScanNode): string {
  const conditions = node.equalities.map(({ property, code }) => `${property} = ${valueWords(code)}`)
  if (node.index?.ancestor && plan.ancestorPath !== undefined)
    conditions.unshift(`under ${pathWords(plan.ancestorPath)}`)
  const spans = spanWords(node.spans, plan.columns[0])
  if (spans !== '') conditions.push(spans)
  const subject = node.index === undefined ? (plan.kind ?? 'all kinds') : formatIndex(node.index)
  const column =
    node.table.startsWith('EntitiesByProperty') && node.equalities.length === 0 ? plan.columns[0] : undefined
  const name = column === undefined ? subject : `${subject}.${column.property}`
  const direction = plan.reverse !== node.mirrored ? ' backwards' : ''
  return `scan ${node.table} ${name}${direction}${conditions.length === 0 ? '' : `: ${conditions.join(' and ')}`}`
}

/** Ranges of a column, or of the path, as conditions on its values; empty if they exclude nothing. */
function spanWords(spans: readonly Span[], column: Column | undefined): string {
  const subject = column?.property ?? '__key__'
  const words = spans.map((span) => oneSpanWords(span, subject, column)).filter((text) => text !== '')
  return words.length > 1 ? `(${words.join(' or ')})` : (words[0] ?? '')
}

function oneSpanWords({ lower, upper }: Span, subject: string, column: Column | undefined): string {
  const low = boundOf(lower, column)
  const high = boundOf(upper, column)
  if (low !== undefined && high !== undefined && low.code === high.code && !low.after && high.after) {
    return low.prefix ? `${subject} under ${low.text}` : `${subject} = ${low.text}`
  }
  const parts: string[] = []
  const inverted = column?.inverted ?? false
  if (low !== undefined) parts.push(`${subject} ${inverted ? '<' : '>'}${low.after ? '' : '='} ${low.text}`)
  if (high !== undefined) parts.push(`${subject} ${inverted ? '>' : '<'}${high.after ? '=' : ''} ${high.text}`)
  return parts.join(' and ')
}

interface BoundWords {
  readonly code: string
  /** Whether the bound is behind everything that starts with the code. */
  readonly after: boolean
  /** Whether the code is a path prefix, that of an ancestor. */
  readonly prefix: boolean
  readonly text: string
}

/** `undefined` for a bound that excludes nothing. */
function boundOf(bound: string, column: Column | undefined): BoundWords | undefined {
  if (bound === '' || bound === codesEnd) return undefined
  for (const after of bound.endsWith(codesEnd) ? [false, true] : [false]) {
    const code = after ? bound.slice(0, -1) : bound
    const text = codeWords(code, column)
    if (text !== undefined) return { code, after, prefix: false, text }
    if (column === undefined) {
      const ancestor = codeWords(`${code}\x00`, column)
      if (ancestor !== undefined) return { code, after, prefix: true, text: ancestor }
    }
  }
  return { code: bound, after: false, prefix: false, text: '?' }
}

/** `undefined` if the bytes are not exactly one code. */
function codeWords(code: string, column: Column | undefined): string | undefined {
  try {
    if (column === undefined) return decodePath(code, 0).next === code.length ? pathWords(code) : undefined
    const plain = column.inverted ? invert(code) : code
    return decodeValueCode(plain, 0, likelyType(plain, 0)).next === plain.length ? valueWords(plain) : undefined
  } catch {
    return undefined
  }
}

function pathWords(code: string): string {
  const { path } = decodePath(code, 0)
  return formatKey({ partition: { projectId: '', databaseId: '', namespaceId: '' }, path })
}

/** A value code in words. Its type is a guess: a filter has the same code for a string and a blob. */
function valueWords(code: string): string {
  return formatValue(decodeValueCode(code, 0, likelyType(code, 0)).value)
}

function formatValue(value: IndexableValue): string {
  switch (value.type) {
    case 'double':
      return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value)
    case 'blob':
      return `blob of ${value.value.length} bytes`
    case 'geoPoint':
      return `(${value.latitude}, ${value.longitude})`
    case 'entity':
      return 'user'
    case 'key':
      return formatKey(value.key)
    default:
      return prettyValue(value)
  }
}
