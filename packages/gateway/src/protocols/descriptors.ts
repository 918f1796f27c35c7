/** The published protos as descriptors. They load slowly, so this file is imported by the first call that needs it, in three turns. */
import { createFileRegistry, type FileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { descriptorSet } from '#gen/descriptors.js'

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

// The library itself has just been loaded, which takes as long as each of the two steps below.
await nextTurn()
const files = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, 'base64'))
await nextTurn()
export const registry: FileRegistry = createFileRegistry(files)
