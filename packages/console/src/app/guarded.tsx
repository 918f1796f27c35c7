/** Shows the error of a page in its place: the navigation stays. */
import { Component, type ComponentChildren } from 'preact'
import { ErrorNote } from '../components/notes.tsx'

interface GuardedState {
  readonly error: Error | undefined
}

export class Guarded extends Component<{ readonly children: ComponentChildren }, GuardedState> {
  override state: GuardedState = { error: undefined }

  static override getDerivedStateFromError(error: Error): GuardedState {
    return { error }
  }

  override componentDidCatch(error: Error): void {
    console.error(error)
  }

  override render() {
    const { error } = this.state
    return error === undefined ? this.props.children : <ErrorNote error={error} what="This page failed" />
  }
}
