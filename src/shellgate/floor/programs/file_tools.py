"""Programs that make, change, move and delete files, pack them and send them."""

from shellgate.floor.arguments.usage_tables import table

USAGES = table("""
# names | operands | options with a value | marks
rm srm | d* | interactive?=t preserve-root?=t | descends=r,R,recursive
rimraf del trash trash-put gvfs-trash wipe sfill | d* | | descends
rmdir | d* | ignore=t |
unlink | d | |
shred | w* | n,iterations=t s,size=t random-source=r remove?=t |
mv | d* w | t,target-directory=w S,suffix=t backup?=t update?=t | descends
rename prename | t d* | e=c |
mmv | t* | |
cp gcp | r* w | t,target-directory=w S,suffix=t backup?=t preserve?=t no-preserve=t sparse=t reflink?=t
    update?=t | descends=r,R,a,recursive,archive follows=L,dereference
install ginstall | r* w | t,target-directory=w S,suffix=t g,group=t m,mode=t o,owner=t strip-program=x
    backup?=t |
ln link | w* w | t,target-directory=w S,suffix=t backup?=t |
ditto | r* w | arch=t | descends single
touch gtouch | w* | d,date=t r,reference=r time=t |
mkdir | w* | m,mode=t Z,context?=t |
mkfifo mknod | w t t t | m,mode=t |
truncate | w* | s,size=t r,reference=r |
fallocate | w* | l,length=t o,offset=t |
tee | w* | output-error?=t | harmless
sponge | w* | |
split csplit | r w | a,suffix-length=t b,bytes=t C,line-bytes=t l,lines=t n,number=t t,separator=t filter=s
    additional-suffix=t f,prefix=w |
chmod | t m* | reference=r | descends=R,recursive given=reference
chown chgrp | t m* | reference=r from=t | descends=R,recursive given=reference
setfacl chcon setfattr xattr | m* | m,modify=t x,remove=t n,name=t v,value=t M,modify-file=r set=t restore=r
    | descends=R,recursive
chattr chflags | t m* | v=t p=t | descends=R
lsattr getfacl getfattr | l* | n,name=t | harmless
dd dcfldd dc3dd | t* | |
ddrescue dd_rescue | r w w | b=t s=t i=t o=t r=t d=t |
patch | w r | p,strip=t i,input=r o,output=w d,directory=w r,reject-file=w B,prefix=t D,ifdef=t F,fuzz=t
    z,suffix=t V=t Y=t |
iconv | r* | f,from-code=t t,to-code=t o,output=w |
dos2unix unix2dos | w* | n=w |
tar bsdtar gtar | t* | f,file=e C,directory=w T,files-from=r X,exclude-from=r exclude=t
    I,use-compress-program=s to-command=s checkpoint-action=t info-script=s F,new-volume-script=s
    rsh-command=s transform=t xform=t owner=t group=t mode=t mtime=t sort=t strip-components=t checkpoint?=t
    one-top-level?=w g,listed-incremental=w index-file=w b=t H,format=t N=t V=t L=t | old follows=h,dereference
zip | w r* | x,exclude=t i,include=t P=t n=t t=t b=w TT,unzip-command=s O,out=w | descends=r,R,recurse-paths
unzip | r w* | d=w x=t P=t |
7z 7za 7zz 7zr | t e e* | o?=w w?=w i?=e x?=t p?=t | single
rar unrar | t e e* | | single
gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress brotli pigz pbzip2 lzip |
    d* | S,suffix=t T,threads=t o,output=w |
ar ranlib | t w r* | |
cpio bsdcpio | t* | F,file=e I=r O=w D,directory=w E,pattern-file=r H,format=t R,owner=t rsh-command=s C=t |
pax | e* | f=e s=t o=t |
zipfile tarfile | e* | |
unar | r e* | o,output-directory=w e=t p=t |
unsquashfs | r e* | d,dest=w f=t | single
bsdunzip | r e* | d=w x=t P=t |
ouch | t e* | d,dir=w |
rsync | r* w | e,rsh=s exclude=t include=t exclude-from=r include-from=r files-from=r f,filter=t
    rsync-path=s out-format=t log-file=w log-file-format=t password-file=r backup-dir=w suffix=t temp-dir=w
    T=w partial-dir=w compare-dest=r copy-dest=r link-dest=r bwlimit=t port=t timeout=t max-size=t
    min-size=t max-delete=t chmod=t chown=t usermap=t groupmap=t B,block-size=t compress-level=t
    M,remote-option=t write-batch=w read-batch=r info=t debug=t | descends=r,a,recursive,archive
    follows=L,k,copy-links,copy-dirlinks,copy-unsafe-links
scp | r* w | i=r F=r o=t P=t l=t c=t J=t S=x D=s X=t | descends=r follows=r
sftp | t w* | i=r F=r o=t P=t b=r S=x D=s J=t R=t B=t |
rclone/purge rclone/delete rclone/deletefile rclone/rmdirs rclone/move | d* | config=r | descends
gio/trash gio/remove | d* | | descends
rclone | t e e* | config=r | single
ed red ex | w* | c,cmd=c | single
vi vim nvim view gvim rvim vimdiff | w* | c,cmd=c S=r u=r U=r s=w i=w W=w w=w q=r listen=w server=t remote=w
    | single
nano pico micro joe kak hx mcedit | w* | C=w s,speller=s rcfile=r |
emacs emacsclient | w* | e,eval=c execute=c l,load=r f,funcall=t script=r | single
sqlite3 duckdb | w c* | cmd=c init=r separator=t newline=t nullvalue=t | single
pr | r* | | harmless
mktemp | w* | p,tmpdir?=w suffix=t |
wall write | r t* | g=t t=t |
logger mail mailx sendmail | t* | f,file=r a=r A=r s=t t=t p=t |
enscript a2ps groff nroff troff pandoc | r* | o,output=w p=w f,from=t t,to=t filter=x F=x lua-filter=r L=r
    template=r data-dir=r pdf-engine=x extract-media=w H=r A=r B=r metadata=t metadata-file=r d,defaults=r |
convert magick ffmpeg sox gs | e* | i=r | single
openssl | t e* | in=r out=w inform=t outform=t key=r cert=r CA=r CAfile=r CApath=r CAkey=r config=r
    extfile=r keyout=w signkey=r inkey=r certfile=r passin=t passout=t pass=t k=t subj=t days=t newkey=t
    connect=t servername=t rand=r writerand=w kfile=r sigfile=r sign=r verify=r prverify=r addext=t engine=e
    CAserial=w CAcreateserial=w index=w serial=w outdir=w | single
gpg gpg2 | r* | o,output=w r,recipient=t u,local-user=t homedir=w keyring=w secret-keyring=w passphrase=t
    passphrase-file=r default-key=t import=r log-file=w status-file=w logger-file=w attribute-file=w batch=t
    |
ssh-keygen | t* | f=w t=t b=t C=t N=t P=t i=t s=r I=t n=t O=t Y=t R=t F=t D=e w=e |
age minisign signify | r* | o=w i=r R=r s=r p=w |
""")
