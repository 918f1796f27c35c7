/** Each error in each of the three wire forms. */
import { DatastoreError, InvariantError, type StatusCode, statusCodes } from '@sixtables/engine'
import { describe, expect, test } from 'vitest'
import { engineDouble } from '../support/engines.ts'
import { grpcClient, testGateway } from '../support/gateway.ts'
import { lookupOf, request } from '../support/messages.ts'

const httpStatuses: Readonly<Record<StatusCode, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
}

const bytes = request('Lookup', lookupOf('a'))

/** What each protocol answers when the engine throws. */
async function answers(error: unknown) {
  const failing = engineDouble({
    lookup: () => {
      throw error
    },
  })
  const gateway = await testGateway(failing)
  const grpc = await (await grpcClient(gateway)).call('Lookup', bytes)
  const post = (type: string, body: Buffer | string) =>
    fetch(`${gateway.url}/v1/projects/p:lookup`, { method: 'POST', headers: { 'content-type': type }, body })
  const json = await post('application/json', '{}')
  const protobuf = await post('application/x-protobuf', bytes)
  return {
    grpc: { status: grpc.status, message: grpc.message, httpStatus: grpc.httpStatus },
    json: { status: json.status, type: json.headers.get('content-type'), text: await json.text() },
    protobuf: {
      status: protobuf.status,
      type: protobuf.headers.get('content-type'),
      body: Buffer.from(await protobuf.arrayBuffer()),
    },
  }
}

describe('a DatastoreError', () => {
  const codes = Object.keys(statusCodes) as StatusCode[]
  test.each(codes)('%s has one form in each protocol', async (code) => {
    const { grpc, json, protobuf } = await answers(new DatastoreError(code, 'why: „x“ %'))
    expect(grpc).toEqual({ status: statusCodes[code], message: 'why: „x“ %', httpStatus: 200 })
    const status = httpStatuses[code]
    expect(json).toEqual({
      status,
      type: expect.stringMatching(/^application\/json/),
      text: `{"error":{"code":${status},"message":"why: „x“ %","status":"${code}"}}\n`,
    })
    const text = Buffer.from('why: „x“ %')
    expect(protobuf).toEqual({
      status,
      type: 'application/x-protobuf',
      body: Buffer.concat([Buffer.of(0x08, statusCodes[code], 0x12, text.length), text]),
    })
  })

  test('without a message leaves the message out', async () => {
    const { grpc, json, protobuf } = await answers(new DatastoreError('ABORTED', ''))
    expect(grpc).toMatchObject({ status: 10, message: '' })
    expect(json.text).toBe('{"error":{"code":409,"status":"ABORTED"}}\n')
    expect(protobuf.body).toEqual(Buffer.of(0x08, 10))
  })

  test('with a long message is whole over HTTP', async () => {
    const { json, protobuf } = await answers(new DatastoreError('ABORTED', 'm'.repeat(20_000)))
    expect(JSON.parse(json.text).error.message).toHaveLength(20_000)
    expect(protobuf.body.subarray(0, 6)).toEqual(Buffer.of(0x08, 10, 0x12, 0xa0, 0x9c, 0x01))
    expect(protobuf.body).toHaveLength(20_006)
  })
})

test.each([new InvariantError('law: secret'), new TypeError('secret'), 'secret', undefined])(
  'what is no DatastoreError (%s) is INTERNAL and keeps its detail to itself',
  async (thrown) => {
    const { grpc, json, protobuf } = await answers(thrown)
    expect([grpc.status, json.status, protobuf.status]).toEqual([13, 500, 500])
    expect(grpc.message + json.text + protobuf.body.toString()).not.toContain('secret')
  },
)
