/**
 * The command lines by which test libraries start a Datastore emulator of the Cloud SDK, each with the flags of sixtables for it, its port, and
 * the sign of readiness for the library: an answer to `GET /`, or a text on stdout or stderr, or on stderr only.
 *
 * Known: the libraries' public sources, read in November 2026. Measured: gcloud 528 writes all lines of an emulator to stderr, after
 * `[datastore] `.
 */
const shell = (line) => ['/bin/sh', '-c', line]

export const gcloudLines = [
  {
    library: 'Testcontainers for Java',
    command: shell('gcloud beta emulators datastore start --project test-project --host-port 0.0.0.0:8081'),
    started: 'start --mode=legacy --host=0.0.0.0 --port=8081 --no-store-on-disk --project=test-project',
    port: 8081,
    waitsFor: 'answer',
  },
  {
    library: 'Testcontainers for Go',
    command: shell('gcloud beta emulators datastore start --host-port 0.0.0.0:8081 --project=test-project'),
    started: 'start --mode=legacy --host=0.0.0.0 --port=8081 --no-store-on-disk --project=test-project',
    port: 8081,
    waitsFor: 'answer',
  },
  {
    library: 'Testcontainers for Node.js',
    command: shell('gcloud beta emulators firestore start  --host-port=0.0.0.0:8080 --database-mode=datastore-mode'),
    started: 'start --mode=firestore --host=0.0.0.0 --port=8080 --no-store-on-disk',
    port: 8080,
    waitsFor: { words: 'running', on: ['stdout', 'stderr'] },
  },
  {
    library: 'Testcontainers for Python',
    command:
      'gcloud beta emulators datastore start --no-store-on-disk --project=test-project --host-port=0.0.0.0:8081'.split(
        ' ',
      ),
    started: 'start --mode=legacy --host=0.0.0.0 --port=8081 --no-store-on-disk --project=test-project',
    port: 8081,
    waitsFor: { words: 'Dev App Server is now running.', on: ['stdout', 'stderr'] },
  },
  {
    library: 'Testcontainers for Rust',
    command: 'gcloud beta emulators datastore start --project test --host-port 0.0.0.0:8081'.split(' '),
    started: 'start --mode=legacy --host=0.0.0.0 --port=8081 --no-store-on-disk --project=test',
    port: 8081,
    waitsFor: { words: '[datastore] Dev App Server is now running', on: ['stderr'] },
  },
]

/**
 * LocalDatastoreHelper of Google's Java client, which starts an emulator in the container of its tests: it needs `google-cloud-sdk` in PATH and
 * a version of the emulator from `gcloud version`, runs this line, and stops the emulator by `POST /shutdown`.
 */
export const javaHelper = {
  path: 'google-cloud-sdk',
  version: /^cloud-datastore-emulator (?:[2-9]|1\.(?:[2-9]|\d\d))/m,
  command: ['gcloud', 'beta', 'emulators', 'datastore', 'start', '--host-port=localhost:9090', '--consistency=0.9'],
  started: 'start --mode=legacy --host=localhost --port=9090 --no-store-on-disk --consistency=0.9',
  port: 9090,
  words: 'Dev App Server is now running',
}
