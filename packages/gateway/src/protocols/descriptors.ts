/** The published protos as descriptors. They load slowly, so this file is imported by the first call that needs it. */
import { createFileRegistry, type FileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { descriptorSet } from '#gen/descriptors.js'

export const registry: FileRegistry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, 'base64')),
)
