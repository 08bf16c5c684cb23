// The whole state of the page is in the fragment: #/page?key=value&key=value. Works from files too, and the back
// button works by itself.

export function read() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { page: path || 'problems', query: new URLSearchParams(query) };
}

export function link(page, query = {}) {
  const list = query instanceof URLSearchParams ? query : new URLSearchParams(query);
  const text = list.toString();
  return `#/${page}${text ? `?${text}` : ''}`;
}

// Replaces the state without a new entry in the history, unless asked.
export function write(page, query, push = false) {
  const url = link(page, query);
  if (url === location.hash) return;
  if (push) history.pushState(null, '', url);
  else history.replaceState(null, '', url);
}

// Text for the fragment: deflated, in URL-safe base64.
export async function pack(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const LONGEST = 2e6; // a fragment must not unpack into something that fills the memory

export async function unpack(packed) {
  const binary = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > LONGEST) throw new Error('the text in the address is too long');
  }
}
