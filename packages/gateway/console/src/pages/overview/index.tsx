/** The state of the server: its calls, its data, and the patterns that would cost at scale. */
export default function OverviewPage() {
  return (
    <section class="page">
      <h1>Overview</h1>
    </section>
  )
}
