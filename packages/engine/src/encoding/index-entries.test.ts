import { describe, expect, it } from 'vitest'
import {
  array,
  embedded,
  excluded,
  field,
  hex,
  integer,
  joined,
  property,
  string,
} from '../../test/property/entity-messages.ts'
import { userMeaning, type Value } from '../model/value.ts'
import { indexEntries } from './index-entries.ts'
import { decodeValueCode } from './value-codec.ts'

/** Entries in words: `name=value`, with `*` where the property has several. */
function found(properties: readonly Uint8Array[], options?: Parameters<typeof indexEntries>[1]): string[] {
  return indexEntries(joined(...properties), options).map(({ property: name, valueCode, type, multi }) => {
    const { value } = decodeValueCode(valueCode, 0, type)
    return `${name}${multi ? '*' : ''}=${inWords(value)}`
  })
}

function inWords(value: Value): string {
  switch (value.type) {
    case 'integer':
    case 'boolean':
    case 'string':
      return String(value.value)
    default:
      return value.type
  }
}

const e = (name: string, value: Value | Uint8Array) => property(name, value)

describe('an entity gives to its property indexes', () => {
  it('each plain value, null too', () => {
    expect(found([e('a', integer(1)), e('b', { type: 'null' }), e('c', { type: 'boolean', value: true })])).toEqual([
      'a=1',
      'b=null',
      'c=true',
    ])
  })

  it('nothing for an excluded value', () => {
    expect(found([e('a', excluded(integer(1))), e('b', integer(2))])).toEqual(['b=2'])
  })

  it('each element of an array that is not excluded, equal ones once', () => {
    const value = array(integer(5), excluded(integer(6)), string('x'), integer(5), { type: 'timestamp', micros: 5n })
    expect(found([e('a', value)])).toEqual(['a*=5', 'a*=x'])
  })

  it('an array of one value as if it were that value', () => {
    expect(found([e('a', array(integer(5)))])).toEqual(['a=5'])
    expect(found([e('a', array(integer(5), integer(5), excluded(integer(6))))])).toEqual(['a=5'])
  })

  it('nothing for an empty array, or null in legacy mode', () => {
    expect(found([e('a', array())])).toEqual([])
    expect(found([e('a', array())], { emptyArrayAsNull: true })).toEqual(['a=null'])
    expect(found([e('a', excluded(array()))], { emptyArrayAsNull: true })).toEqual([])
    expect(found([e('a', array(excluded(integer(1))))], { emptyArrayAsNull: true })).toEqual([])
  })

  it('the leaves of an embedded entity under dotted paths, arrays inside too', () => {
    const value = embedded({ x: integer(1), in: embedded({ y: integer(2) }), arr: array(integer(3), integer(4)) })
    expect(found([e('e', value)])).toEqual(['e.x=1', 'e.in.y=2', 'e.arr*=3', 'e.arr*=4'])
  })

  it('nothing for what is inside an excluded entity', () => {
    expect(found([e('e', excluded(embedded({ x: integer(1), y: array(integer(2)) })))])).toEqual([])
  })

  it('the leaves of all entities of an array, pooled', () => {
    const value = array(
      embedded({ x: integer(1) }),
      embedded({ x: integer(2), z: integer(9) }),
      embedded({ x: integer(1) }),
    )
    expect(found([e('e', value)])).toEqual(['e.x*=1', 'e.x*=2', 'e.z=9'])
  })

  it('a property whose name has a dot together with nested ones of that path', () => {
    expect(found([e('e.x', integer(1)), e('e', embedded({ x: integer(2) }))])).toEqual(['e.x*=1', 'e.x*=2'])
    expect(found([e('e', embedded({ x: integer(2) })), e('e.x', integer(2))])).toEqual(['e.x=2'])
  })

  it('a user as one value', () => {
    const user = { ...embedded({ email: string('a@b'), auth_domain: string('b') }), meaning: userMeaning }
    expect(found([e('u', user)])).toEqual(['u=entity'])
    expect(found([e('u', array(user, user))])).toEqual(['u=entity'])
  })

  it('the leaves of an entity that follows a user', () => {
    const user = { ...embedded({ email: string('a@b') }), meaning: userMeaning }
    expect(found([e('u', user), e('e', embedded({ x: integer(1) }))])).toEqual(['u=entity', 'e.x=1'])
    expect(found([e('u', array(user, embedded({ x: integer(1) })))])).toEqual(['u=entity', 'u.x=1'])
  })

  it('the same for few values as for many', () => {
    const few = array(...Array.from({ length: 20 }, (_, i) => integer(i % 7)))
    const many = array(...Array.from({ length: 200 }, (_, i) => integer(i % 7)))
    expect(found([e('a', many), e('b', array(integer(1)))])).toEqual(found([e('a', few), e('b', array(integer(1)))]))
  })

  it('nothing for an entity without properties', () => {
    expect(indexEntries(new Uint8Array(0))).toEqual([])
  })

  it('the last of two members, and merged parts of a message', () => {
    expect(found([e('a', hex('10 05 8a 01 01 78'))])).toEqual(['a=x'])
    const parts = joined(field(6, e('x', integer(1))), field(6, e('y', integer(2))))
    expect(found([e('e', parts), e('z', integer(3))])).toEqual(['e.x=1', 'e.y=2', 'z=3'])
  })
})
