// A page that takes what it is told, in a thread of its own as a browser is a process of its own.
import { request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { port, token } = workerData;
const headers = { authorization: `Bearer ${token}` };
request({ host: '127.0.0.1', port, path: '/api/updates', headers }, (response) => {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk) => {
    const now = process.hrtime.bigint();
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const id = /^id: (\d+)/.exec(text.slice(0, end));
      if (id) parentPort.postMessage({ position: Number(id[1]), now });
      text = text.slice(end + 2);
    }
  });
}).end();
