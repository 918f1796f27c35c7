/** The files of the published protos and of the health service, for reflection. Imported by the first request. */
import { createFileRegistry, createRegistry, type DescFile, fromJson, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { registry } from '../../protocols/descriptors.ts'

const servingStatus = { type: 'TYPE_ENUM', typeName: '.grpc.health.v1.HealthCheckResponse.ServingStatus' }
const healthTypes = {
  inputType: '.grpc.health.v1.HealthCheckRequest',
  outputType: '.grpc.health.v1.HealthCheckResponse',
}

/** grpc.health.v1, which is not among the published protos, as proto3 JSON. */
const healthFile = fromJson(FileDescriptorProtoSchema, {
  name: 'grpc/health/v1/health.proto',
  package: 'grpc.health.v1',
  syntax: 'proto3',
  messageType: [
    {
      name: 'HealthCheckRequest',
      field: [{ name: 'service', jsonName: 'service', number: 1, label: 'LABEL_OPTIONAL', type: 'TYPE_STRING' }],
    },
    {
      name: 'HealthCheckResponse',
      field: [{ name: 'status', jsonName: 'status', number: 1, label: 'LABEL_OPTIONAL', ...servingStatus }],
      enumType: [
        {
          name: 'ServingStatus',
          value: ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'].map((name, number) => ({ name, number })),
        },
      ],
    },
  ],
  service: [
    {
      name: 'Health',
      method: [
        { name: 'Check', ...healthTypes },
        { name: 'Watch', ...healthTypes, serverStreaming: true },
      ],
    },
  ],
})

const health = createFileRegistry(healthFile, () => undefined)
const files = new Map([...registry.files, ...health.files].map((file) => [`${file.name}.proto`, file]))
const types = createRegistry(registry, health)

/** A serialized FileDescriptorProto, and its imports; `undefined` if there is no such file. */
export function byFilename(name: string): readonly Uint8Array[] | undefined {
  return withImports(files.get(name))
}

/** The same for the file of a symbol. A method, a field or a value of an enum is in the file of its parent. */
export function bySymbol(name: string): readonly Uint8Array[] | undefined {
  const found = types.get(name) ?? types.get(name.slice(0, Math.max(0, name.lastIndexOf('.'))))
  return withImports(found?.file)
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
