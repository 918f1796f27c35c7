/**
 * Encodes the engine's query as a message, because an answer to GQL contains the query as it was understood.
 *
 *   Query             projection 2 {property 1}, kind 3 {name 1}, filter 4, order 5 {property 1, direction 2}, distinct_on 6,
 *                     start_cursor 7, end_cursor 8, offset 10, limit 12 {value 1}
 *   Filter            composite_filter 1 {op 1, filters 2}, property_filter 2 {property 1, op 2, value 3}
 *   AggregationQuery  nested_query 1, aggregations 3 {count 1 {up_to 1 {value 1}}, sum 2, avg 3 {property 1}, alias 7}
 *
 * Keys in values contain their partition. Fields are written last first (convert/answer-writer.ts).
 */
import { type Aggregation, encodeValue, type Filter, type Query } from '@sixtables/engine'
import type { AnswerWriter } from '../convert/answer-writer.ts'
import { operatorNumbers } from '../convert/query.ts'
import type { BoundAggregation } from './gql.ts'

export function writeQuery(writer: AnswerWriter, field: number, query: Query): void {
  const { projection, kind, filter, order, distinctOn, startCursor, endCursor, offset, limit } = query
  writer.message(field, () => {
    if (limit !== undefined) writer.message(12, () => limit !== 0 && writer.uint32(1, limit))
    if (offset !== 0) writer.uint32(10, offset)
    if (endCursor !== undefined) writer.bytes(8, endCursor)
    if (startCursor !== undefined) writer.bytes(7, startCursor)
    for (const name of distinctOn.toReversed()) writeReference(writer, 6, name)
    for (const { property, direction } of order.toReversed()) {
      writer.message(5, () => {
        writer.uint32(2, direction === 'ascending' ? 1 : 2)
        writeReference(writer, 1, property)
      })
    }
    if (filter !== undefined) writeFilter(writer, 4, filter)
    if (kind !== undefined) writer.message(3, () => writer.text(1, kind))
    for (const name of projection.toReversed()) writeProperty(writer, 2, name)
  })
}

export function writeAggregationQuery(
  writer: AnswerWriter,
  field: number,
  { query, aggregations }: BoundAggregation,
): void {
  writer.message(field, () => {
    for (const aggregation of aggregations.toReversed()) writeAggregation(writer, 3, aggregation)
    writeQuery(writer, 1, query)
  })
}

function writeAggregation(writer: AnswerWriter, field: number, aggregation: Aggregation): void {
  writer.message(field, () => {
    if (aggregation.alias) writer.text(7, aggregation.alias)
    if (aggregation.operator !== 'count') {
      writeProperty(writer, aggregation.operator === 'sum' ? 2 : 3, aggregation.property)
      return
    }
    const { upTo } = aggregation
    writer.message(1, () => {
      if (upTo !== undefined) writer.message(1, () => upTo !== 0n && writer.int64(1, upTo))
    })
  })
}

function writeFilter(writer: AnswerWriter, field: number, filter: Filter): void {
  writer.message(field, () => {
    if (filter.type === 'composite') {
      writer.message(1, () => {
        for (const part of filter.filters.toReversed()) writeFilter(writer, 2, part)
        writer.uint32(1, filter.operator === 'and' ? 1 : 2)
      })
    } else {
      writer.message(2, () => {
        writer.bytes(3, encodeValue(filter.value))
        writer.uint32(2, operatorNumbers[filter.operator])
        writeReference(writer, 1, filter.property)
      })
    }
  })
}

/** A message whose field 1 is a reference to a property: Projection, Sum, Avg. */
function writeProperty(writer: AnswerWriter, field: number, name: string): void {
  writer.message(field, () => writeReference(writer, 1, name))
}

/** PropertyReference: name 2. */
function writeReference(writer: AnswerWriter, field: number, name: string): void {
  writer.message(field, () => writer.text(2, name))
}
