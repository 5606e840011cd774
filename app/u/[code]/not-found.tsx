export const metadata = { title: 'No such link' }

export default function NoSuchLink() {
  return (
    <>
      <h1 className="font-semibold text-3xl tracking-[-0.025em]">This link does not work</h1>
      <p className="mt-3 text-base text-ink-soft">
        It may be incomplete or mistyped, or may have been deleted. Copy it again from the message you
        received, or ask the person who sent it for a new one.
      </p>
    </>
  )
}
