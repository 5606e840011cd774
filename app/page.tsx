export default function Home() {
  return (
    <main>
      <h1>Sluice</h1>
      <p>Resumable uploads straight into your own object storage.</p>
    </main>
  )
}
