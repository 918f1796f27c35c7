/** Google's two emulators of Datastore in the Cloud SDK: whether they are there, and the command that runs one. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export type Emulator = 'firestore' | 'legacy'

const java = process.env['JAVA'] ?? 'java'

/** Known: the places of the jars below the SDK's root. */
const programs: Readonly<Record<Emulator, { readonly jar: string; readonly main: string }>> = {
  legacy: {
    jar: 'platform/cloud-datastore-emulator/CloudDatastore.jar',
    main: 'com.google.cloud.datastore.emulator.CloudDatastore',
  },
  firestore: {
    jar: 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar',
    main: 'com.google.cloud.datastore.emulator.firestore.CloudFirestore',
  },
}

/** The reason why emulators cannot run; `undefined` when all is there. */
export function missing(wanted: readonly Emulator[]): string | undefined {
  const root = sdkRoot()
  if (root === undefined) return 'the Cloud SDK is not installed (no gcloud on the path, no CLOUDSDK_ROOT)'
  for (const one of wanted) {
    if (!existsSync(join(root, programs[one].jar))) return `the Cloud SDK has no ${programs[one].jar}`
  }
  try {
    execFileSync(java, ['-version'], { stdio: 'ignore' })
  } catch {
    return `Java is not installed (${java} does not run)`
  }
  return undefined
}

/** @param args - of the emulator, such as `start --port=8081` */
export function emulatorCommand(emulator: Emulator, ...args: readonly string[]): readonly string[] {
  const { jar, main } = programs[emulator]
  return [java, '-Duser.language=en', '-cp', join(sdkRoot() ?? '', jar), main, ...args]
}

function sdkRoot(): string | undefined {
  const given = process.env['CLOUDSDK_ROOT']
  if (given !== undefined && given !== '') return given
  try {
    return execFileSync('gcloud', ['info', '--format=value(installation.sdk_root)'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}
