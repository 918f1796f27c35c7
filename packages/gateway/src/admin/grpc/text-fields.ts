/** The texts of a small message, by field number. */
import { invalidArgument } from '@sixtables/engine'
import { contentOf, fieldsOf } from '../../convert/wire-fields.ts'

/** The last text of each field; fields of other types are skipped. @throws INVALID_ARGUMENT for broken bytes */
export function textFields(message: Buffer, name: string): ReadonlyMap<number, string> {
  try {
    const fields = [...fieldsOf(message)].filter(({ hasContent }) => hasContent)
    return new Map(fields.map(({ number, bytes }) => [number, contentOf(bytes).toString()]))
  } catch {
    throw invalidArgument(`the bytes are not a ${name}`)
  }
}
