/** The published protos as descriptors. They load slowly, so this file is imported by the first call that needs it, a proto in a turn. */
import { create, createFileRegistry, type FileRegistry, fromBinary } from '@bufbuild/protobuf'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { descriptorSet } from '#gen/descriptors.js'

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

// The library itself has just been loaded, which takes longer than any of the steps below.
await nextTurn()
const reader = new BinaryReader(Buffer.from(descriptorSet, 'base64'))
const file: FileDescriptorProto[] = []
// A FileDescriptorSet has no field but its files.
while (reader.pos < reader.len) {
  reader.tag()
  file.push(fromBinary(FileDescriptorProtoSchema, reader.bytes()))
  await nextTurn()
}
export const registry: FileRegistry = createFileRegistry(create(FileDescriptorSetSchema, { file }))
