c     The pollution problem in the format of the test set report:
c     what a user writes to run an own problem with every solver.
c
c     Two rate constants are others than in the report, those of a
c     brighter day; the built-in problem has them as parameters:
c     set k1=0.5
c     set k16=0.0005
c
c         daedalus build pollution.f
c         daedalus run ./pollution.so
c         daedalus workprec ./pollution.so --plot pollution.svg
      integer function pidate()
      pidate = 20060828
      return
      end

      subroutine prob(fullnm,problm,type,neqn,ndisc,t,numjac,mljac,
     +                mujac,nummas,mlmas,mumas,ind)
      character*(*) fullnm, problm, type
      integer neqn,ndisc,mljac,mujac,mlmas,mumas,ind(*)
      double precision t(0:*)
      logical numjac, nummas
      fullnm = 'Pollution, written by a user'
      problm = 'pollution2'
      type   = 'ODE'
      neqn   = 20
      ndisc  = 0
      t(0)   = 0d0
      t(1)   = 60d0
      numjac = .true.
      mljac  = neqn
      mujac  = neqn
      return
      end

      subroutine init(neqn,t,y,yprime,consis)
      integer neqn, i
      double precision t,y(neqn),yprime(neqn)
      logical consis
      do 10 i=1,neqn
         y(i) = 0d0
   10 continue
      y(2)  = 0.2d0
      y(4)  = 0.04d0
      y(7)  = 0.1d0
      y(8)  = 0.3d0
      y(9)  = 0.01d0
      y(17) = 0.007d0
      return
      end

      subroutine settolerances(neqn,rtol,atol,tolvec)
      integer neqn
      logical tolvec
      double precision rtol(neqn), atol(neqn)
      tolvec = .false.
      return
      end

      subroutine setoutput(neqn,solref,printsolout,nindsol,indsol)
      integer neqn, nindsol
      logical solref, printsolout
      integer indsol(neqn)
      solref = .true.
      printsolout = .true.
      nindsol = 3
      indsol(1) = 1
      indsol(2) = 2
      indsol(3) = 4
      return
      end

      subroutine feval(neqn,t,y,yprime,f,ierr,rpar,ipar)
      integer neqn,ierr,ipar(*)
      double precision t,y(neqn),yprime(neqn),f(neqn),rpar(*)
      double precision r(25)
      r( 1) = .5d0       *y( 1)
      r( 2) = .266d2     *y( 2)*y( 4)
      r( 3) = .123d5     *y( 5)*y( 2)
      r( 4) = .86d-3     *y( 7)
      r( 5) = .82d-3     *y( 7)
      r( 6) = .15d5      *y( 7)*y( 6)
      r( 7) = .13d-3     *y( 9)
      r( 8) = .24d5      *y( 9)*y( 6)
      r( 9) = .165d5     *y(11)*y( 2)
      r(10) = .9d4       *y(11)*y( 1)
      r(11) = .22d-1     *y(13)
      r(12) = .12d5      *y(10)*y( 2)
      r(13) = .188d1     *y(14)
      r(14) = .163d5     *y( 1)*y( 6)
      r(15) = .48d7      *y( 3)
      r(16) = .5d-3      *y( 4)
      r(17) = .175d-1    *y( 4)
      r(18) = .1d9       *y(16)
      r(19) = .444d12    *y(16)
      r(20) = .124d4     *y(17)*y( 6)
      r(21) = .21d1      *y(19)
      r(22) = .578d1     *y(19)
      r(23) = .474d-1    *y( 1)*y( 4)
      r(24) = .178d4     *y(19)*y( 1)
      r(25) = .312d1     *y(20)
      f( 1) = -r(1)-r(10)-r(14)-r(23)-r(24)+r(2)+r(3)+r(9)+r(11)+
     +         r(12)+r(22)+r(25)
      f( 2) = -r(2)-r(3)-r(9)-r(12)+r(1)+r(21)
      f( 3) = -r(15)+r(1)+r(17)+r(19)+r(22)
      f( 4) = -r(2)-r(16)-r(17)-r(23)+r(15)
      f( 5) = -r(3)+2*r(4)+r(6)+r(7)+r(13)+r(20)
      f( 6) = -r(6)-r(8)-r(14)-r(20)+r(3)+2*r(18)
      f( 7) = -r(4)-r(5)-r(6)+r(13)
      f( 8) = r(4)+r(5)+r(6)+r(7)
      f( 9) = -r(7)-r(8)
      f(10) = -r(12)+r(7)+r(9)
      f(11) = -r(9)-r(10)+r(8)+r(11)
      f(12) = r(9)
      f(13) = -r(11)+r(10)
      f(14) = -r(13)+r(12)
      f(15) = r(14)
      f(16) = -r(18)-r(19)+r(16)
      f(17) = -r(20)
      f(18) = r(20)
      f(19) = -r(21)-r(22)-r(24)+r(23)+r(25)
      f(20) = -r(25)+r(24)
      return
      end

      subroutine jeval(ldim,neqn,t,y,yprime,dfdy,ierr,rpar,ipar)
      integer ldim,neqn,ierr,ipar(*)
      double precision t,y(neqn),yprime(neqn),dfdy(ldim,neqn),rpar(*)
      return
      end

      subroutine meval(ldim,neqn,t,y,yprime,dfddy,ierr,rpar,ipar)
      integer ldim,neqn,ierr,ipar(*)
      double precision t,y(neqn),yprime(neqn),dfddy(ldim,neqn),rpar(*)
      return
      end

c     By RADAU and GAMD of this library at 3e-15: they agree in 10.7
c     digits or more.
      subroutine solut(neqn,t,y)
      integer neqn
      double precision t,y(neqn)
      y( 1) = 5.4832961283474937d-02
      y( 2) = 1.3586406534053702d-01
      y( 3) = 5.7430099067075906d-09
      y( 4) = 7.5719276801799905d-03
      y( 5) = 2.0174536311268509d-07
      y( 6) = 1.5025646809074512d-07
      y( 7) = 7.7531052658461941d-02
      y( 8) = 3.2487764311277900d-01
      y( 9) = 7.4376078464826953d-03
      y(10) = 1.6353146794075949d-08
      y(11) = 1.1461840117075450d-08
      y(12) = 2.2899983362922650d-03
      y(13) = 2.0589968851020135d-04
      y(14) = 1.4251545654096500d-05
      y(15) = 8.9473540939220327d-03
      y(16) = 8.5250255349919804d-18
      y(17) = 6.8965270922116823d-03
      y(18) = 1.0347290778830872d-04
      y(19) = 2.3655856872925979d-06
      y(20) = 7.3677003934437011d-05
      return
      end
