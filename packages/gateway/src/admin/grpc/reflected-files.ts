/** The files of the published protos and of the health service, for reflection. Imported by the first request. */
import {
  create,
  createFileRegistry,
  createRegistry,
  type DescFile,
  type FileRegistry,
  toBinary,
} from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { registry } from '../../protocols/descriptors.ts'
import type { Descriptors } from './reflection.ts'

/** grpc.health.v1, which is not among the published protos. */
const healthFile = create(FileDescriptorProtoSchema, {
  name: 'grpc/health/v1/health.proto',
  package: 'grpc.health.v1',
  syntax: 'proto3',
  messageType: [
    {
      name: 'HealthCheckRequest',
      field: [
        {
          name: 'service',
          jsonName: 'service',
          number: 1,
          label: FieldDescriptorProto_Label.OPTIONAL,
          type: FieldDescriptorProto_Type.STRING,
        },
      ],
    },
    {
      name: 'HealthCheckResponse',
      field: [
        {
          name: 'status',
          jsonName: 'status',
          number: 1,
          label: FieldDescriptorProto_Label.OPTIONAL,
          type: FieldDescriptorProto_Type.ENUM,
          typeName: '.grpc.health.v1.HealthCheckResponse.ServingStatus',
        },
      ],
      enumType: [
        {
          name: 'ServingStatus',
          value: [
            { name: 'UNKNOWN', number: 0 },
            { name: 'SERVING', number: 1 },
            { name: 'NOT_SERVING', number: 2 },
            { name: 'SERVICE_UNKNOWN', number: 3 },
          ],
        },
      ],
    },
  ],
  service: [
    {
      name: 'Health',
      method: [
        {
          name: 'Check',
          inputType: '.grpc.health.v1.HealthCheckRequest',
          outputType: '.grpc.health.v1.HealthCheckResponse',
        },
        {
          name: 'Watch',
          inputType: '.grpc.health.v1.HealthCheckRequest',
          outputType: '.grpc.health.v1.HealthCheckResponse',
          serverStreaming: true,
        },
      ],
    },
  ],
})

const health: FileRegistry = createFileRegistry(healthFile, () => undefined)
const files = new Map([...registry.files, ...health.files].map((file) => [`${file.name}.proto`, file]))
const types = createRegistry(registry, health)

export const descriptors: Descriptors = {
  byFilename: (name) => withImports(files.get(name)),
  bySymbol(name) {
    const found = types.get(name)
    if (found !== undefined) return withImports(found.file)
    // A method, a field or a value of an enum is in the file of its parent.
    const owner = types.get(name.slice(0, Math.max(0, name.lastIndexOf('.'))))
    return withImports(owner?.file)
  },
}

function withImports(file: DescFile | undefined): readonly Uint8Array[] | undefined {
  if (file === undefined) return undefined
  const all = new Set<DescFile>()
  const visit = (one: DescFile): void => {
    if (all.has(one)) return
    all.add(one)
    one.dependencies.forEach(visit)
  }
  visit(file)
  return [...all].map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto))
}
