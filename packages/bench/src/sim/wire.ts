/** What drives an arm's client calls against a running server, in real time. */
export interface WireSession {
  readonly endpoint: string
}
