/** During development, `npx vite` serves the page and forwards API requests to the server. */
export default { server: { proxy: { '/api': 'http://localhost:3001' } } }
