/**
 * The published protos as descriptors. Slow to load, so this file is imported when the first call needs it.
 */
import { createFileRegistry, type FileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { descriptorSet } from '#gen/descriptors.js'

export const registry: FileRegistry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, 'base64')),
)
