/** The golden scripts of a layer in a worker of a browser: `{begin}` begins another one, `{command}` ─▶ its lines. */
import { EngineScript } from '../../engine/test/golden/engine-script.ts'
import { GqlScript } from '../../gateway/test/golden/gql-script.ts'

const layers = { engine: EngineScript, gql: GqlScript }
let script: EngineScript | GqlScript | undefined

self.onmessage = async ({
  data,
}: MessageEvent<{ readonly begin: keyof typeof layers } | { readonly command: string }>) => {
  if ('begin' in data) script = new layers[data.begin]()
  self.postMessage('begin' in data ? [] : await script?.run(data.command))
}
