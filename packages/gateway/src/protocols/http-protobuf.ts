/** `application/x-protobuf`: bodies are the messages themselves, errors are google.rpc.Status. */
import { protobufErrorOf } from './status.ts'
import type { WireForm } from './wire-form.ts'

export const protobufForm: WireForm = {
  contentType: 'application/x-protobuf',
  request: (_method, body) => body,
  answer: (_method, message) => message,
  error: protobufErrorOf,
}
