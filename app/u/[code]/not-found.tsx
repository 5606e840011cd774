import { readTexts } from '../../texts.ts'

export async function generateMetadata() {
  return { title: (await readTexts()).linkPage.unknown.name }
}

export default async function NoSuchLink() {
  const { title, text } = (await readTexts()).linkPage.unknown
  return (
    <>
      <h1 className="font-semibold text-3xl tracking-[-0.025em]">{title}</h1>
      <p className="mt-3 text-base text-ink-soft">{text}</p>
    </>
  )
}
