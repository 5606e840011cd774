import { Braces, KeyRound, Milestone, Server, ShieldCheck, Webhook } from 'lucide-react'

const PROPERTIES = [
  {
    icon: Milestone,
    title: 'The offset is exact',
    text: 'It counts the durable bytes from the start of the file, without gaps. It never goes back, even if a server crashes.',
  },
  {
    icon: KeyRound,
    title: 'PutObject is enough',
    text: 'Your keys need one permission on one bucket. Bytes go there from memory; bytes that do not yet fill a part wait in the database, encrypted, until they are in the bucket.',
  },
  {
    icon: ShieldCheck,
    title: 'No secret in the browser',
    text: 'Your backend exchanges its Sender token for a short-lived one: one Pipe, one purpose, valid for an hour.',
  },
  {
    icon: Webhook,
    title: 'A webhook that arrives',
    text: 'Signed, delivered at least once, retried for three days, with every attempt kept. Standard Webhooks headers are included.',
  },
  {
    icon: Braces,
    title: 'The clients you have',
    text: 'Plain TUS 1.0 with its extensions: Uppy, tus-js-client, and the libraries for iOS, Android, Go and Python.',
  },
  {
    icon: Server,
    title: 'Yours to run',
    text: 'One command runs everything on a laptop. With PostgreSQL, it runs on as many nodes as you like.',
  },
]

export function Properties() {
  return (
    <section aria-labelledby="properties" className="mx-auto max-w-6xl px-4 py-16 sm:px-6">
      <h2 id="properties" className="max-w-xl font-semibold text-3xl tracking-[-0.025em]">
        What you would build if you had months.
      </h2>
      <ul className="mt-9 grid gap-px overflow-hidden rounded-xl border bg-line sm:grid-cols-2 lg:grid-cols-3">
        {PROPERTIES.map(({ icon: Icon, title, text }) => (
          <li key={title} className="bg-surface p-6">
            <Icon className="size-5 text-water" aria-hidden />
            <h3 className="mt-3.5 font-semibold text-lg">{title}</h3>
            <p className="mt-1 text-ink-soft text-sm leading-relaxed">{text}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}
