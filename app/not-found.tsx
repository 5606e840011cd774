import { ErrorPage } from '#components/site/error-page.tsx'

export const metadata = { title: 'Not found' }

export default function NotFound() {
  return (
    <ErrorPage code="404" title="There is nothing here">
      The address may be mistyped, or the page was deleted.
    </ErrorPage>
  )
}
