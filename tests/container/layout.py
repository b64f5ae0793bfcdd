"""OCI image layouts out of entries: what a tool that is friendly to its reader
would not write can be written with it.

    layer = Layer()
    layer.add('disk', 'block', mode=0o666, device=(7, 0))
    write('/tmp/image', [layer], args=['/guest'])
"""
import gzip
import hashlib
import io
import json
import os
import tarfile

MEDIA = 'application/vnd.oci.image.'
KINDS = {'file': tarfile.REGTYPE, 'folder': tarfile.DIRTYPE,
         'link': tarfile.SYMTYPE, 'hard': tarfile.LNKTYPE,
         'block': tarfile.BLKTYPE, 'char': tarfile.CHRTYPE,
         'fifo': tarfile.FIFOTYPE}


class Zeros(io.RawIOBase):
    """As many as are wanted."""

    def read(self, size=-1):
        return bytes(size)


class Layer:
    """A tar archive."""

    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode='w',
                                format=tarfile.PAX_FORMAT)

    def add(self, name, kind='file', mode=0o644, data=b'', to='',
            device=(0, 0), attributes=None):
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.linkname = KINDS[kind], mode, to
        info.devmajor, info.devminor = device
        info.size = data if isinstance(data, int) else len(data)
        info.pax_headers = {'SCHILY.xattr.' + key: value for key, value in
                            (attributes or {}).items()}
        self.tar.addfile(info, Zeros() if isinstance(data, int)
                         else io.BytesIO(data))
        return self

    def sparse(self, name, size):
        """A file of that size without any content, as GNU tar has it: 512
        bytes here, however long it is."""
        info = tarfile.TarInfo(name)
        data = (b'1\n%d\n0\n' % size).ljust(512, b'\0')
        info.size = len(data)
        info.pax_headers = {
            'GNU.sparse.major': '1', 'GNU.sparse.minor': '0',
            'GNU.sparse.name': name, 'GNU.sparse.realsize': str(size)}
        self.tar.addfile(info, io.BytesIO(data))
        return self

    def finish(self):
        self.tar.close()
        return self.bytes.getvalue()


def put(layout, data):
    digest = hashlib.sha256(data).hexdigest()
    with open(os.path.join(layout, 'blobs/sha256', digest), 'wb') as file:
        file.write(data)
    return {'digest': 'sha256:' + digest, 'size': len(data)}


def put_json(layout, kind, value):
    return dict(put(layout, json.dumps(value).encode()),
                mediaType=MEDIA + kind + '.v1+json')


def write(layout, layers, **config):
    """Returns the digest by which it is kept."""
    os.makedirs(os.path.join(layout, 'blobs/sha256'))
    layers = [layer.finish() for layer in layers]
    names = {'args': 'Entrypoint', 'cwd': 'WorkingDir', 'env': 'Env',
             'user': 'User'}
    described = put_json(layout, 'config', {
        'architecture': 'amd64', 'os': 'linux',
        'config': {names[key]: value for key, value in config.items()},
        'rootfs': {'type': 'layers', 'diff_ids': [
            'sha256:' + hashlib.sha256(layer).hexdigest()
            for layer in layers]}})
    manifest = put_json(layout, 'manifest', {
        'schemaVersion': 2, 'config': described,
        'layers': [dict(put(layout, gzip.compress(layer, 1)),
                        mediaType=MEDIA + 'layer.v1.tar+gzip')
                   for layer in layers]})
    index(layout, manifest)
    with open(os.path.join(layout, 'oci-layout'), 'w') as file:
        file.write('{"imageLayoutVersion":"1.0.0"}')
    return manifest['digest'][7:]


def index(layout, manifest):
    with open(os.path.join(layout, 'index.json'), 'w') as file:
        json.dump({'schemaVersion': 2, 'manifests': [dict(
            manifest, annotations={
                'org.opencontainers.image.ref.name': 'latest'})]}, file)
