/** While you write, `npx vite` serves the page beside the server. */
export default { server: { proxy: { '/api': 'http://localhost:3001' } } }
